import { describe, expect, test } from 'vitest';
import { evolve } from '../../../src/core/domain/session/evolve.ts';
import type { SessionEvent } from '../../../src/core/domain/session/events.ts';
import type { SessionState } from '../../../src/core/domain/session/state.ts';
import { metaOf } from '../../../src/core/domain/transcript/message.ts';
import { aHold, anAdmission, anEvent, aPayload, aProfile, aSummary } from '../../support/builders.ts';
import { submitCommand, TestOwner } from '../../support/test-owner.ts';
import { everythingOf } from './everything.ts';
import { useHarness } from './harness.ts';
import type { MakeLedgerHarness } from './harness.ts';

export function describeAppends(makeHarness: MakeLedgerHarness): void {
  describe('an append', () => {
    const harness = useHarness(makeHarness);

    test('stores all its events and everything that they change', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');

      const { events } = await session.request(submitCommand('session-1', 'a'));
      const admission = anAdmission({ seq: 2, inputId: 'b', sessionId: 'session-1' });
      const queued = anEvent({ type: 'admission.queued', admission, payload: aPayload({ text: 'b' }) }, { seq: 3 });
      await session.append([...events, queued]);

      expect(await harness.ledger.load('session-1')).toEqual(session.state);
      expect(await harness.ledger.findAdmission('session-1', { admissionId: admission.admissionId })).toEqual(
        admission,
      );
      expect(await harness.ledger.readPayload(admission.admissionId)).toEqual({
        payload: { text: 'b', parts: null },
        payloadDigest: admission.payloadDigest,
      });
      const { events: log } = await harness.queries.events({ sessionId: 'session-1', afterSeq: 0, limit: 10 });
      expect(log.map((event) => event.seq)).toEqual([1, 2, 3]);
    });

    test('can create a session and queue its first prompt at once', async () => {
      const { epoch } = await harness.ledger.takeOwnership({ instanceId: 'instance-1', now: aProfile().startedAt });
      const created = anEvent({ type: 'session.created', profile: aProfile() }, { epoch });
      const admission = anAdmission();
      const queued = anEvent({ type: 'admission.queued', admission, payload: aPayload() }, { epoch, seq: 2 });

      const result = await harness.ledger.append({
        sessionId: 'session-1',
        expectedSeq: 0,
        epoch,
        events: [created, queued],
      });

      expect(result).toEqual({ kind: 'committed' });
      expect((await harness.ledger.load('session-1'))?.open).toEqual([admission]);
    });

    test('whose sequence numbers leave a gap is a bug: it is rejected and changes nothing', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const before = await everythingOf(harness, ['session-1']);
      const held = anEvent({ type: 'session.held', hold: aHold() }, { seq: 2 });
      const released = anEvent({ type: 'session.released', by: 'local' }, { seq: 4 });

      const append = harness.ledger.append(session.requestOf([held, released]));

      await expect(append).rejects.toThrow();
      expect(await everythingOf(harness, ['session-1'])).toEqual(before);
    });

    test('without events is a bug and is rejected', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');

      await expect(harness.ledger.append(session.requestOf([]))).rejects.toThrow();
    });

    test('is applied in the order in which it was called, also when nobody waits in between', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const holds = Array.from({ length: 20 }, (_, index) =>
        anEvent({ type: 'session.held', hold: aHold({ reason: `hold ${index}` }) }, { seq: index + 2 }),
      );

      const results = await Promise.all(
        holds.map((event) => {
          const result = harness.ledger.append(session.requestOf([event]));
          session.catchUp([event]);
          return result;
        }),
      );

      expect(results).toEqual(holds.map(() => ({ kind: 'committed' })));
      expect(await harness.ledger.load('session-1')).toEqual(session.state);
    });
  });

  describe('an append that comes too late', () => {
    const harness = useHarness(makeHarness);

    test('is stale: it gets every event after the one that it expected, and changes nothing', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const late = await session.request({ kind: 'hold', hold: { reason: 'late', until: null, by: 'local' } });
      await session.submit('a');
      await session.start();
      const before = await everythingOf(harness, ['session-1']);

      const result = await harness.ledger.append(late);

      expect(result).toEqual({ kind: 'stale', events: session.events.slice(1).map(storedForm) });
      expect(await everythingOf(harness, ['session-1'])).toEqual(before);
    });

    test('can evolve what it missed, from wherever it stood, to the state that is stored', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.turn('a');
      await session.turn('b');
      await session.submit('c');
      await session.start();
      await session.startCompression('compression-1');
      await session.rotate({ head: 1, tail: 2, childTranscript: 'child-1' }, { summary: aSummary({ text: 'secret' }) });
      await session.settle();
      const live = session.events;

      for (let expectedSeq = 0; expectedSeq < live.length; expectedSeq += 1) {
        const known = live.slice(0, expectedSeq).reduce<SessionState | null>(evolve, null);
        const [next] = live.slice(expectedSeq);
        const { epoch } = owner.ownership;
        const late = next === undefined ? [] : [next];

        const result = await harness.ledger.append({ sessionId: 'session-1', expectedSeq, epoch, events: late });

        expect(result.kind).toBe('stale');
        const missed = result.kind === 'stale' ? result.events : [];
        expect(missed).toEqual(live.slice(expectedSeq).map(storedForm));
        expect(missed.reduce<SessionState | null>(evolve, known)).toEqual(session.state);
      }
    });

    test('is stale when it creates a session that exists', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const again = anEvent({ type: 'session.created', profile: aProfile({ requestId: 'another' }) });

      const { epoch } = owner.ownership;
      const result = await harness.ledger.append({ sessionId: 'session-1', expectedSeq: 0, epoch, events: [again] });

      expect(result).toEqual({ kind: 'stale', events: session.events });
      expect(await harness.ledger.findCreated({ principalId: 'local', requestId: 'another' })).toBeNull();
    });

    test('is judged by its epoch first, then by its sequence, then by its input ids', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const twin = await session.request(submitCommand('session-1', 'a', { admissionId: 'twin' }));
      await session.submit('a');
      const { epoch } = owner.ownership;

      const lateAndDuplicate = await harness.ledger.append(twin);
      await TestOwner.takingOver(harness.ledger);
      const supersededLateAndDuplicate = await harness.ledger.append(twin);

      expect(lateAndDuplicate.kind).toBe('stale');
      expect(supersededLateAndDuplicate).toEqual({ kind: 'stale_epoch', epoch: epoch + 1 });
    });
  });

  describe('an append with input ids that exist', () => {
    const harness = useHarness(makeHarness);

    test('gets all of the admissions that have them, as they are now, and changes nothing', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.turn('settled');
      await session.submit('cancelled');
      const cancelled = { inputId: 'cancelled', principalId: 'local' };
      await session.run({ kind: 'cancel', key: cancelled, revision: null, known: undefined });
      await session.submit('waiting');
      const before = await everythingOf(harness, ['session-1']);
      const queued = ['settled', 'fresh', 'waiting', 'cancelled'].map((inputId, index) => {
        const admission = anAdmission({ seq: 100 + index, inputId });
        return anEvent(
          { type: 'admission.queued', admission, payload: aPayload() },
          { seq: session.state.seq + index + 1 },
        );
      });

      const result = await harness.ledger.append(session.requestOf(queued));

      const existing = ['settled', 'waiting', 'cancelled'].map((inputId) =>
        harness.ledger.findAdmission('session-1', { inputId, principalId: 'local' }),
      );
      expect(result).toEqual({ kind: 'duplicate', admissions: await Promise.all(existing) });
      expect(result.kind === 'duplicate' && result.admissions.map((admission) => admission.outcome)).toEqual([
        'completed',
        null,
        'cancelled',
      ]);
      expect(await everythingOf(harness, ['session-1'])).toEqual(before);
    });

    test('is committed when they belong to another session or another principal', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const first = await owner.create('session-1');
      const second = await owner.create('session-2');

      await first.submit('a');
      await second.submit('a');
      await first.submit('a', { principalId: 'somebody-else', admissionId: 'admission-of-somebody-else' });

      expect(first.state.open.map((admission) => admission.principalId)).toEqual(['local', 'somebody-else']);
      expect(await harness.ledger.load('session-1')).toEqual(first.state);
      expect(await harness.ledger.load('session-2')).toEqual(second.state);
    });

    test('harms no append that was called beside it', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const sessions = [
        await owner.create('session-1'),
        await owner.create('session-2'),
        await owner.create('session-3'),
      ];
      const [, second] = sessions;
      await second?.submit('a');
      const twin = anAdmission({ seq: 50, sessionId: 'session-2', inputId: 'a' });
      const queued = anEvent(
        { type: 'admission.queued', admission: twin, payload: aPayload() },
        { sessionId: 'session-2', seq: 3 },
      );

      const results = await Promise.all(
        sessions.map(async (session) =>
          session === second
            ? session.append([queued])
            : session.append((await session.request(submitCommand(session.sessionId, 'a'))).events),
        ),
      );

      expect(results.map((result) => result.kind)).toEqual(['committed', 'duplicate', 'committed']);
      for (const session of sessions) expect(await harness.ledger.load(session.sessionId)).toEqual(session.state);
    });
  });

  describe('an append that creates a session', () => {
    const harness = useHarness(makeHarness);

    test('is refused when its principal has used the request id, and names the session that exists', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      await owner.create('session-1', { requestId: 'r', requestDigest: 'digest-1' });
      const before = await everythingOf(harness, ['session-1', 'session-2']);
      const profile = aProfile({ requestId: 'r', requestDigest: 'digest-2' });
      const created = anEvent({ type: 'session.created', profile }, { sessionId: 'session-2' });

      const { epoch } = owner.ownership;
      const result = await harness.ledger.append({ sessionId: 'session-2', expectedSeq: 0, epoch, events: [created] });

      expect(result).toEqual({ kind: 'request_taken', created: { sessionId: 'session-1', requestDigest: 'digest-1' } });
      expect(await everythingOf(harness, ['session-1', 'session-2'])).toEqual(before);
    });

    test('is committed when another principal has used the request id', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      await owner.create('session-1', { principalId: 'ann', requestId: 'r' });
      await owner.create('session-2', { principalId: 'ben', requestId: 'r' });

      const found = await harness.ledger.findCreated({ principalId: 'ben', requestId: 'r' });

      expect(found).toEqual({ sessionId: 'session-2', requestDigest: 'digest-of-create-1' });
    });
  });
}

/** What a log can give back of an event: everything but content, which has tables of its own. */
function storedForm(event: SessionEvent): SessionEvent {
  if (event.type === 'message.appended') return { ...event, message: metaOf(event.message) };
  if (event.type === 'compression.completed') return { ...event, summary: metaOf(event.summary) };
  if (event.type !== 'admission.queued') return event;
  const { payload, ...stored } = event;
  return stored;
}
