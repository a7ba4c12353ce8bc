import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AdmissionOutcome } from '../../../src/core/domain/admission/admission.ts';
import { evolve } from '../../../src/core/domain/session/evolve.ts';
import type { SessionEvent } from '../../../src/core/domain/session/events.ts';
import type { SessionState } from '../../../src/core/domain/session/state.ts';
import { metaOf } from '../../../src/core/domain/transcript/message.ts';
import type { Message, MessageMeta } from '../../../src/core/domain/transcript/message.ts';
import type { TestSession } from '../../support/test-owner.ts';
import type { MakeLedgerHarness, OpenedLedger } from './harness.ts';
import { newWorld, play, randomChoices } from './random-history.ts';
import type { World } from './random-history.ts';

/** Random histories of legal commands, with owners that are lost, against what the pure core says must be there. */
export function describeHistories(makeHarness: MakeLedgerHarness): void {
  describe('after any history', () => {
    test('load equals the fold of evolve, at every step', async () => {
      await forEveryHistory(makeHarness, { runs: 25, maxSteps: 50 }, async (world, choices) => {
        for (const choice of choices) {
          await play(world, choice);
          for (const { sessionId, state } of world.sessions)
            expect(await world.opened.ledger.load(sessionId)).toEqual(state);
        }
      });
    });

    test('the tables, the log and the transcripts agree with it, and with the next owner', async () => {
      await forEveryHistory(makeHarness, { runs: 25, maxSteps: 120 }, async (world, choices) => {
        for (const choice of choices) await play(world, choice);

        const opened = await world.harness.reopen();

        for (const session of world.sessions) {
          expect(await opened.ledger.load(session.sessionId)).toEqual(session.state);
          await expectLog(opened, session);
          await expectTranscript(opened, session);
          await expectAdmissions(opened, session);
        }
        await expectUnfinished(opened, world);
        await expectFreshIds(opened, world);
      });
    });
  });
}

async function forEveryHistory(
  makeHarness: MakeLedgerHarness,
  { runs, maxSteps }: { runs: number; maxSteps: number },
  check: (world: World, choices: Parameters<typeof play>[1][]) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(randomChoices(maxSteps), async (choices) => {
    const harness = await makeHarness();
    try {
      await check(await newWorld(harness), [...choices]);
    } finally {
      await harness.close();
    }
  });
  await fc.assert(property, { numRuns: runs });
}

async function expectLog({ queries }: OpenedLedger, session: TestSession): Promise<void> {
  const { events, lastSeq } = await queries.events({ sessionId: session.sessionId, afterSeq: 0, limit: 10_000 });

  expect(lastSeq).toBe(session.state.seq);
  expect(events.map(headerOf)).toEqual(session.events.map(headerOf));
  expect(events.reduce<SessionState | null>(evolve, null)).toEqual(session.state);
}

async function expectTranscript({ ledger }: OpenedLedger, session: TestSession): Promise<void> {
  const { lineage, messages } = session.state;
  const contents = new Map(session.events.flatMap(contentsOf));

  const tip = await ledger.readTranscript(lineage.tipId, 0);

  expect(tip.map(metaOf)).toEqual(messages);
  expect(tip.map((message) => message.text)).toEqual(messages.map((message) => contents.get(message.originId)));
  const transcripts = session.events.flatMap((event) =>
    event.type === 'compression.completed' ? event.childTranscript : [],
  );
  for (const id of [session.sessionId, ...transcripts]) {
    expect(await ledger.sessionOf(id)).toEqual({ sessionId: session.sessionId, principalId: 'local' });
  }
}

async function expectAdmissions({ ledger, queries }: OpenedLedger, session: TestSession): Promise<void> {
  const { sessionId, state, events } = session;
  const outcomes = new Map<string | null, AdmissionOutcome>(events.flatMap(outcomeOf));
  const everQueued = events.flatMap((event) => (event.type === 'admission.queued' ? event.admission : []));

  for (const { admissionId, inputId, principalId, seq } of everQueued) {
    const found = await ledger.findAdmission(sessionId, { inputId, principalId });
    const open = state.open.find((admission) => admission.admissionId === admissionId);
    const outcome = outcomes.get(admissionId) ?? null;
    if (open !== undefined) expect(found).toEqual(open);
    else expect(found).toMatchObject({ admissionId, seq, status: 'terminal', outcome });
    expect((await ledger.readPayload(admissionId))?.payloadDigest).toBe(found?.payloadDigest);
  }
  const { admissions } = await queries.listAdmissions({ sessionId, include: 'open', limit: 1_000, after: null });
  expect(admissions.map(({ admission }) => admission)).toEqual(state.open);
}

async function expectUnfinished({ ledger, queries }: OpenedLedger, { sessions }: World): Promise<void> {
  const unfinished = sessions.filter(
    ({ state: { open, lineage, hold } }) => open.length > 0 || lineage.open !== null || typeof hold?.until === 'string',
  );
  expect([...(await ledger.unfinished())].sort()).toEqual(unfinished.map(({ sessionId }) => sessionId).sort());

  const everQueued = sessions.flatMap(({ events }) => events).filter(({ type }) => type === 'admission.queued').length;
  const { sessions: count, admissions } = await queries.counts();
  const open = sessions.flatMap(({ state }) => state.open);
  expect(count).toBe(sessions.length);
  expect(admissions).toEqual({
    queued: open.filter(({ status }) => status === 'queued').length,
    started: open.filter(({ status }) => status === 'started').length,
    unknown: open.filter(({ status }) => status === 'unknown').length,
    terminal: everQueued - open.length,
  });
}

async function expectFreshIds({ ledger }: OpenedLedger, { sessions }: World): Promise<void> {
  const { nextMessageId, nextAdmissionSeq } = await ledger.takeOwnership({
    instanceId: 'last',
    now: '2040-01-01T00:00:00.000Z',
  });
  const events = sessions.flatMap((session) => session.events);
  const messageIds = sessions.flatMap(({ state }) => state.messages.map((message) => message.id));
  const admissionSeqs = events.flatMap((event) => (event.type === 'admission.queued' ? event.admission.seq : []));

  expect(nextMessageId).toBeGreaterThan(Math.max(0, ...messageIds, ...events.flatMap(contentsOf).map(([id]) => id)));
  expect(nextAdmissionSeq).toBeGreaterThan(Math.max(0, ...admissionSeqs));
}

function headerOf({ sessionId, seq, type, at, epoch, admissionId, executionGeneration }: SessionEvent): unknown {
  return { sessionId, seq, type, at, epoch, admissionId, executionGeneration };
}

/** The texts that an event stores, by the id of the message that has them first. */
function contentsOf(event: SessionEvent): [number, string][] {
  if (event.type === 'message.appended') return textOf(event.message);
  return event.type === 'compression.completed' ? textOf(event.summary) : [];
}

function textOf(message: Message | MessageMeta): [number, string][] {
  return 'text' in message ? [[message.originId, message.text]] : [];
}

function outcomeOf(event: SessionEvent): [string | null, AdmissionOutcome][] {
  if (event.type === 'turn.settled') return [[event.admissionId, event.outcome]];
  if (event.type === 'turn.resolved') return [[event.admissionId, 'interrupted']];
  if (event.type === 'admission.merged') return [[event.admissionId, 'completed']];
  return event.type === 'admission.cancelled' ? [[event.admissionId, 'cancelled']] : [];
}
