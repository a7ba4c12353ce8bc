import { describe, expect, test } from 'vitest';
import { anEvent, aProfile } from '../../support/builders.ts';
import { submitCommand, TestOwner } from '../../support/test-owner.ts';
import { everythingOf } from './everything.ts';
import { useHarness } from './harness.ts';
import type { MakeLedgerHarness } from './harness.ts';

const somebody = { instanceId: 'instance-1', now: '2030-01-01T00:00:00.000Z' };

export function describeOwnership(makeHarness: MakeLedgerHarness): void {
  describe('ownership', () => {
    const harness = useHarness(makeHarness);

    test('begins with nothing given out in an empty store', async () => {
      const ownership = await harness.ledger.takeOwnership(somebody);

      expect(ownership).toMatchObject({ epoch: 1, nextMessageId: 1, nextAdmissionSeq: 1 });
      expect(ownership.storeId).not.toBe('');
    });

    test('raises the epoch by one each time, in one store that keeps its id', async () => {
      const first = await harness.ledger.takeOwnership(somebody);
      const second = await harness.ledger.takeOwnership({ ...somebody, instanceId: 'instance-2' });
      const reopened = await harness.reopen();
      const third = await reopened.ledger.takeOwnership({ ...somebody, instanceId: 'instance-3' });

      expect([first, second, third].map((ownership) => ownership.epoch)).toEqual([1, 2, 3]);
      expect(new Set([first, second, third].map((ownership) => ownership.storeId)).size).toBe(1);
    });

    test('that was superseded is fenced: every later append gets stale_epoch and changes nothing', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.submit('a');
      await session.start();
      const settle = await session.request({
        kind: 'settle',
        executionGeneration: 1,
        outcome: 'interrupted',
        answer: null,
        step: 1,
        failure: null,
        usage: null,
        contextTokens: null,
        holdOnOutage: false,
      });
      const create = anEvent({ type: 'session.created', profile: aProfile() }, { sessionId: 'session-2' });
      const reopened = await harness.reopen();
      const successor = await TestOwner.takingOver(reopened.ledger, 'instance-2');
      const before = await everythingOf(reopened, ['session-1', 'session-2']);

      const results = [
        await harness.ledger.append(settle),
        await harness.ledger.append({ ...settle, expectedSeq: 0, events: session.events }),
        await harness.ledger.append({
          sessionId: 'session-2',
          expectedSeq: 0,
          epoch: owner.ownership.epoch,
          events: [create],
        }),
      ];

      const fenced = { kind: 'stale_epoch', epoch: successor.ownership.epoch };
      expect(results).toEqual([fenced, fenced, fenced]);
      expect(await everythingOf(reopened, ['session-1', 'session-2'])).toEqual(before);
    });

    test('passes the sessions on as they were, and the new owner goes on from there', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const left = await owner.create('session-1');
      await left.turn('a');
      await left.submit('b');
      await left.start();

      const { ledger } = await harness.reopen();
      const successor = await TestOwner.takingOver(ledger, 'instance-2');
      const found = await successor.find('session-1');

      expect(found.state).toEqual(left.state);
      expect(await found.recover()).toEqual({ requeued: 0, lost: 1, ended: 0 });
      expect(await ledger.load('session-1')).toEqual(found.state);
    });

    test('never hands out an id that was used, whatever became of what had it', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.turn('a');
      await session.submit('b');
      await session.start();
      await session.startCompression('compression-1');
      await session.rotate({ head: 1, tail: 1, childTranscript: null });
      await session.settle();
      const newestMessageId = session.state.messages.at(-1)?.id;
      const cancelled = await session.submit('c');
      const key = { admissionId: cancelled.admission.admissionId };
      await session.run({ kind: 'cancel', key, revision: null, known: undefined });

      const { ledger } = await harness.reopen();
      const successor = await TestOwner.takingOver(ledger, 'instance-2');

      expect(successor.ownership.nextMessageId).toBeGreaterThan(newestMessageId ?? Infinity);
      expect(successor.ownership.nextAdmissionSeq).toBeGreaterThan(cancelled.admission.seq);
    });

    test('counts ids that were stored out of order, by several sessions', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const [first, second] = [await owner.create('session-1'), await owner.create('session-2')];
      const early = await first.request(submitCommand('session-1', 'a'));
      const late = await second.request(submitCommand('session-2', 'b'));
      await second.append(late.events);
      await first.append(early.events);

      const successor = await TestOwner.takingOver(harness.ledger);

      const used = [...first.state.open, ...second.state.open].map((admission) => admission.seq);
      expect(successor.ownership.nextAdmissionSeq).toBeGreaterThan(Math.max(...used));
    });
  });
}
