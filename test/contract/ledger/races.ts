import { describe, expect, test } from 'vitest';
import type { SessionEvent } from '../../../src/core/domain/session/events.ts';
import { aHold, anEvent, aProfile } from '../../support/builders.ts';
import { submitCommand, TestOwner, TestSession } from '../../support/test-owner.ts';
import { useHarness } from './harness.ts';
import type { MakeLedgerHarness } from './harness.ts';

const writers = Array.from({ length: 12 }, (_, index) => `writer-${index}`);

export function describeRaces(makeHarness: MakeLedgerHarness): void {
  describe('when many writers append to one session at once', () => {
    const harness = useHarness(makeHarness);

    test('exactly one of them gets each sequence number', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const attempts = writers.map((by) => anEvent({ type: 'session.held', hold: aHold({ by }) }, { seq: 2 }));

      const results = await Promise.all(attempts.map((event) => harness.ledger.append(session.requestOf([event]))));

      const { events: log } = await harness.queries.events({ sessionId: 'session-1', afterSeq: 1, limit: 100 });
      const winners = attempts.filter((_, index) => results[index]?.kind === 'committed');
      expect(log).toEqual(winners);
      expect(winners).toHaveLength(1);
      const losers = results.filter((result) => result.kind !== 'committed');
      expect(losers).toEqual(losers.map(() => ({ kind: 'stale', events: winners })));
    });

    test('each of them gets its event in after evolving what it missed, and nothing is lost', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const sessions = writers.map(() => new TestSession(owner, 'session-1', session.state));

      await Promise.all(sessions.map((own, index) => holdUntilCommitted(own, writers[index] ?? '')));

      const { events: log } = await harness.queries.events({ sessionId: 'session-1', afterSeq: 1, limit: 100 });
      expect(log.map((event) => event.seq)).toEqual(writers.map((_, index) => index + 2));
      expect(log.map(holder).sort()).toEqual([...writers].sort());
    });

    test('one input id makes one admission, however many of them submit it', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const sessions = writers.map(() => new TestSession(owner, 'session-1', session.state));

      await Promise.all(
        sessions.map(async (own, index) => {
          const command = submitCommand('session-1', 'a', { admissionId: `admission-of-writer-${index}` });
          const result = await own.append((await own.request(command)).events);
          if (result.kind === 'stale') own.catchUp(result.events);
          await own.run(command);
        }),
      );

      const { admissions } = await harness.queries.listAdmissions({
        sessionId: 'session-1',
        include: 'all',
        limit: 100,
        after: null,
      });
      expect(admissions).toHaveLength(1);
      for (const own of sessions) expect(own.state.open).toEqual(admissions.map(({ admission }) => admission));
    });

    test('one request id makes one session, and the others are told which', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const { epoch } = owner.ownership;

      const results = await Promise.all(
        writers.map((sessionId) => {
          const created = anEvent({ type: 'session.created', profile: aProfile({ requestId: 'r' }) }, { sessionId });
          return harness.ledger.append({ sessionId, expectedSeq: 0, epoch, events: [created] });
        }),
      );

      const winners = writers.filter((_, index) => results[index]?.kind === 'committed');
      expect(winners).toHaveLength(1);
      const created = { sessionId: winners[0], requestDigest: aProfile().requestDigest };
      expect(results.filter((result) => result.kind !== 'committed')).toEqual(
        writers.slice(1).map(() => ({ kind: 'request_taken', created })),
      );
    });
  });

  describe('when writers append to sessions of their own at once', () => {
    const harness = useHarness(makeHarness);

    test('none of them waits for another to decide again', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const sessions = await Promise.all(writers.map((sessionId) => owner.create(sessionId)));

      await Promise.all(
        sessions.map(async (session) => {
          await session.turn('a');
          await session.turn('b');
        }),
      );

      for (const session of sessions) expect(await harness.ledger.load(session.sessionId)).toEqual(session.state);
    });
  });
}

async function holdUntilCommitted(session: TestSession, by: string): Promise<void> {
  for (;;) {
    const { events } = await session.request({ kind: 'hold', hold: { reason: 'race', until: null, by } });
    const result = await session.append(events);
    if (result.kind === 'committed') return;
    if (result.kind !== 'stale') throw new Error(`A race ended with ${result.kind}`);
    session.catchUp(result.events);
  }
}

function holder(event: SessionEvent): string {
  return event.type === 'session.held' ? event.hold.by : event.type;
}
