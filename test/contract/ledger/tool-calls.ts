import { describe, expect, test } from 'vitest';
import { anAnswer, aToolCall } from '../../support/builders.ts';
import { TestOwner } from '../../support/test-owner.ts';
import type { TestSession } from '../../support/test-owner.ts';
import { useHarness } from './harness.ts';
import type { LedgerHarness, MakeLedgerHarness } from './harness.ts';

/** What a ledger knows of calls whose intent is stored. */
export function describeToolCalls(makeHarness: MakeLedgerHarness): void {
  describe('the calls of a turn', () => {
    const harness = useHarness(makeHarness);

    test('run from the append that starts them, in its order, in the next process too', async () => {
      const session = await calling(harness);

      const { ledger } = await harness.reopen();

      const loaded = await ledger.load('session-1');
      expect(loaded).toEqual(session.state);
      expect(loaded?.runningCalls.map(({ callId, name }) => [callId, name])).toEqual([
        ['call-2', 'read_file'],
        ['call-1', 'read_file'],
      ]);
      expect(loaded?.open[0]?.boundary).toBe('tool');
    });

    test('run no more once they have finished, each for itself', async () => {
      const session = await calling(harness);
      await session.finish('call-2', { result: 'failed' });

      expect(await harness.ledger.load('session-1')).toEqual(session.state);
      expect(session.state.runningCalls.map(({ callId }) => callId)).toEqual(['call-1']);
    });

    test('stay with a lost turn until it is resolved', async () => {
      const session = await calling(harness);
      const { ledger } = await harness.reopen();
      const next = session.passTo(await TestOwner.takingOver(ledger));
      await next.recover();

      expect((await ledger.load('session-1'))?.runningCalls).toHaveLength(2);
      await next.run({
        kind: 'resolve_unknown',
        admissionId: next.state.open[0]?.admissionId ?? '',
        executionGeneration: 1,
        action: 'discard',
        by: 'operator',
        retryAdmissionId: 'retry-1',
        known: undefined,
      });

      expect(await ledger.load('session-1')).toEqual(next.state);
      expect(next.state.runningCalls).toEqual([]);
    });

    test('end with their turn, and the same ids may run again in the next one', async () => {
      const session = await calling(harness);
      await session.settle({ outcome: 'interrupted', answer: null });
      expect((await harness.ledger.load('session-1'))?.runningCalls).toEqual([]);

      await session.submit('b');
      await session.start();
      await session.ask(asking);
      await session.finish('call-1');

      expect(await harness.ledger.load('session-1')).toEqual(session.state);
      expect(session.state.runningCalls.map(({ callId }) => callId)).toEqual(['call-2']);
    });

    test('are of their own session only', async () => {
      const session = await calling(harness);
      const other = await session.owner.create('session-2');
      await other.submit('a');
      await other.start();
      await other.ask(asking);
      await session.settle({ outcome: 'interrupted', answer: null });

      expect(await harness.ledger.load('session-2')).toEqual(other.state);
      expect(other.state.runningCalls).toHaveLength(2);
    });

    test('may be of a transcript that a compression has made', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.turn('a');
      await session.submit('b');
      await session.start();
      await session.startCompression('compression-1');
      await session.rotate({ head: 0, tail: 1, childTranscript: 'child-1' });
      await session.ask(asking);

      expect((await harness.ledger.load('session-1'))?.runningCalls).toHaveLength(2);
    });
  });
}

const asking = anAnswer({ text: '', toolCalls: [aToolCall({ id: 'call-2' }), aToolCall({ id: 'call-1' })] });

/** A session whose turn runs two calls. */
async function calling(harness: LedgerHarness): Promise<TestSession> {
  const owner = await TestOwner.takingOver(harness.ledger);
  const session = await owner.create('session-1');
  await session.submit('a');
  await session.start();
  await session.ask(asking);
  return session;
}
