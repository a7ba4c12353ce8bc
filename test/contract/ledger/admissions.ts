import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../src/core/domain/model/failure.ts';
import type { Admission, PromptPayload } from '../../../src/core/domain/admission/admission.ts';
import { aPayload, aPrincipal } from '../../support/builders.ts';
import { TestOwner } from '../../support/test-owner.ts';
import { useHarness } from './harness.ts';
import type { MakeLedgerHarness } from './harness.ts';

const richPayload: PromptPayload = {
  text: 'Look at “this” — 🙂\n\u0000 and "that"',
  parts: [
    { type: 'text', text: 'Look', providerMetadata: { vendor: { signature: 'abc', nested: { deep: [1, null] } } } },
    { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' },
    { type: 'file', mediaType: 'text/plain', data: 'aGk=', name: null },
  ],
};

export function describeAdmissions(makeHarness: MakeLedgerHarness): void {
  describe('an admission', () => {
    const harness = useHarness(makeHarness);

    test('is found by either of its names, in its own session only', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await owner.create('session-2');
      const { admission } = await session.submit('a');
      const { ledger } = harness;

      expect(await ledger.findAdmission('session-1', { admissionId: admission.admissionId })).toEqual(admission);
      expect(await ledger.findAdmission('session-1', { inputId: 'a', principalId: 'local' })).toEqual(admission);
      expect(await ledger.findAdmission('session-1', { inputId: 'a', principalId: 'somebody-else' })).toBeNull();
      expect(await ledger.findAdmission('session-1', { inputId: 'b', principalId: 'local' })).toBeNull();
      expect(await ledger.findAdmission('session-2', { admissionId: admission.admissionId })).toBeNull();
      expect(await ledger.findAdmission('session-2', { inputId: 'a', principalId: 'local' })).toBeNull();
      expect(await ledger.findAdmission('no such session', { admissionId: admission.admissionId })).toBeNull();
    });

    test('is found as it ended, after any number of turns, compressions and owners', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const failure = failureOf('rate_limited', 'Slow down', {
        retryable: true,
        providerStatus: 429,
        retryAfterMs: 1_500,
      });
      await session.turn('completed');
      await session.submit('failed');
      await session.start();
      await session.settle({ outcome: 'failed', answer: null, failure });
      await session.submit('cancelled');
      const key = { inputId: 'cancelled', principalId: 'local' };
      await session.run({ kind: 'cancel', key, revision: null, known: undefined });
      await session.submit('interrupted');
      const { executionGeneration } = await session.start();
      await session.run({ kind: 'interrupt', executionGeneration: executionGeneration ?? 0, by: 'somebody' });
      await session.settle();
      await session.submit('compressing');
      await session.start();
      await session.startCompression('compression-1');
      await session.rotate({ head: 1, tail: 1, childTranscript: 'child-1' });
      await session.settle();

      const { ledger } = await harness.reopen();
      const inputIds = ['completed', 'failed', 'cancelled', 'interrupted', 'compressing'];
      const found = await Promise.all(
        inputIds.map((inputId) => ledger.findAdmission('session-1', { inputId, principalId: 'local' })),
      );

      expect(found.map((admission) => admission?.status)).toEqual(inputIds.map(() => 'terminal'));
      expect(found.map((admission) => admission?.outcome)).toEqual([
        'completed',
        'failed',
        'cancelled',
        'interrupted',
        'completed',
      ]);
      expect(found[1]?.failure).toEqual(failure);
      expect(found[2]?.revision).toBe(2);
      expect(found[3]?.stopRequested?.by).toBe('somebody');
      expect(found.map((admission) => admission?.seq)).toEqual([1, 2, 3, 4, 5]);
      expect(found.every((admission) => admission?.settledAt !== null)).toBe(true);
    });

    test('whose owner was lost keeps its evidence, and its resolution once somebody has decided', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const left = await owner.create('session-1');
      await left.submit('a');
      const running = await left.start();
      const { ledger } = await harness.reopen();
      const session = await (await TestOwner.takingOver(ledger, 'instance-2')).find('session-1');
      await session.recover();
      const key = { admissionId: running.admissionId };

      const unknown = await ledger.findAdmission('session-1', key);
      await session.run(resolve(running, 'discard'));
      const resolved = await ledger.findAdmission('session-1', key);

      expect(unknown).toMatchObject({ status: 'unknown', evidence: { boundary: 'model', ownerEpoch: 1, step: 1 } });
      expect(resolved).toEqual({
        ...unknown,
        status: 'terminal',
        outcome: 'interrupted',
        resolution: { action: 'discard', by: 'operator', at: resolved?.settledAt },
        settledAt: resolved?.settledAt,
      });
    });

    test('that goes back to the queue keeps its place and counts its lost starts', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const left = await owner.create('session-1');
      const { admission } = await left.submit('a');
      await left.submit('b');
      await left.start(null);

      const successor = await TestOwner.takingOver(harness.ledger, 'instance-2');
      const session = await successor.find('session-1');
      await session.recover();

      const [head] = (await harness.ledger.load('session-1'))?.open ?? [];
      expect(head).toEqual({ ...admission, requeueCount: 1 });
    });
  });

  describe('a payload', () => {
    const harness = useHarness(makeHarness);

    test('is read as it was stored, with the digest that it had', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');

      const { admission } = await session.submit('a', { payload: richPayload, payloadDigest: 'digest-of-rich' });

      const stored = { payload: richPayload, payloadDigest: 'digest-of-rich' };
      expect(await harness.ledger.readPayload(admission.admissionId)).toEqual(stored);
      expect(await harness.ledger.readPayload('no such admission')).toBeNull();
    });

    test('stays after its admission has ended', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const { admission } = await session.submit('a', { payload: aPayload({ text: 'keep me' }) });
      await session.start();
      await session.settle();

      const { ledger } = await harness.reopen();

      expect((await ledger.readPayload(admission.admissionId))?.payload).toEqual({ text: 'keep me', parts: null });
    });

    test('of a lost turn is copied to its retry, and to the retry of that', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const left = await owner.create('session-1');
      const { admission } = await left.submit('a', { payload: richPayload });
      await left.start();
      const successor = await TestOwner.takingOver(harness.ledger, 'instance-2');
      const session = await successor.find('session-1');
      await session.recover();

      await session.run(resolve(await reread(admission), 'retry', 'retry-1'));
      await session.start();
      const third = await TestOwner.takingOver(harness.ledger, 'instance-3');
      const again = await third.find('session-1');
      await again.recover();
      const retry = await harness.ledger.findAdmission('session-1', { admissionId: 'retry-1' });
      await again.run(resolve(retry ?? admission, 'retry', 'retry-2'));

      const original = await harness.ledger.readPayload(admission.admissionId);
      expect(original?.payload).toEqual(richPayload);
      expect(await harness.ledger.readPayload('retry-1')).toEqual(original);
      expect(await harness.ledger.readPayload('retry-2')).toEqual(original);
      expect((await reread(admission)).retriedBy).toBe('retry-1');
      expect((await harness.ledger.load('session-1'))?.open.map((open) => open.inputId)).toEqual(['a~2']);

      async function reread({ admissionId }: Admission): Promise<Admission> {
        return (await harness.ledger.findAdmission('session-1', { admissionId })) ?? admission;
      }
    });

    test('that steered a turn are found for ever with what became of them, and wait in the queue where they were to', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.submit('a');
      await session.start();
      await session.steer('merged');
      await session.mergeSteers();
      await session.steer('dropped');
      await session.steer('kept', 'queue');
      const turn = session.state.open[0]?.admissionId;
      await session.settle();

      const { ledger } = await harness.reopen();

      expect(await ledger.load('session-1')).toEqual(session.state);
      const find = (inputId: string) => ledger.findAdmission('session-1', { inputId, principalId: aPrincipal });
      const cancel = { generation: 1, ifOver: 'cancel' };
      expect(await find('merged')).toMatchObject({ outcome: 'completed', mergedInto: turn, steers: cancel });
      expect(await find('dropped')).toMatchObject({ outcome: 'cancelled', failure: { reason: 'turn_over' } });
      expect(await find('kept')).toMatchObject({ status: 'queued', delivery: 'queue', steers: { ifOver: 'queue' } });
    });
  });
}

function resolve(admission: Admission, action: 'discard' | 'retry', retryAdmissionId = 'retry') {
  const { admissionId, executionGeneration } = admission;
  return {
    kind: 'resolve_unknown',
    admissionId,
    executionGeneration: executionGeneration ?? 0,
    action,
    by: 'operator',
    retryAdmissionId,
    known: undefined,
  } as const;
}
