import { describe, expect, test } from 'vitest';
import { TestOwner } from '../../support/test-owner.ts';
import { useHarness } from './harness.ts';
import type { MakeLedgerHarness } from './harness.ts';

export function describeUnfinished(makeHarness: MakeLedgerHarness): void {
  describe('the unfinished sessions', () => {
    const harness = useHarness(makeHarness);

    test('are none in an empty store, nor where everything has ended', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      expect(await harness.ledger.unfinished()).toEqual([]);

      await owner.create('empty');
      const session = await owner.create('answered');
      await session.turn('a');
      await session.submit('b');
      const key = { inputId: 'b', principalId: 'local' };
      await session.run({ kind: 'cancel', key, revision: null, known: undefined });

      expect(await harness.ledger.unfinished()).toEqual([]);
    });

    test('come in the order in which their oldest admission began to wait', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const [c, a, b] = [await owner.create('c'), await owner.create('a'), await owner.create('b')];
      await b.submit('1');
      await c.submit('2');
      await a.submit('3');
      await b.submit('4');

      expect(await harness.ledger.unfinished()).toEqual(['b', 'c', 'a']);

      const key = { inputId: '1', principalId: 'local' };
      await b.run({ kind: 'cancel', key, revision: null, known: undefined });
      const { ledger } = await harness.reopen();

      expect(await ledger.unfinished()).toEqual(['c', 'a', 'b']);
    });

    test('are those with a prompt that waits, runs or is unknown, under a hold as well', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const lost = await owner.create('lost');
      await lost.submit('a');
      await lost.start();
      const successor = await TestOwner.takingOver(harness.ledger);
      await (await successor.find('lost')).recover();
      const held = await successor.create('held');
      await held.submit('a');
      await held.run({ kind: 'hold', hold: { reason: 'operator', until: null, by: 'local' } });
      const running = await successor.create('running');
      await running.submit('a');
      await running.start();
      await (await successor.create('answered')).turn('a');

      expect([...(await harness.ledger.unfinished())].sort()).toEqual(['held', 'lost', 'running']);
    });

    test('are those with an open compression, until it has ended', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.submit('a');
      await session.start();
      await session.startCompression('compression-1');
      await session.settle();
      expect(await harness.ledger.unfinished()).toEqual(['session-1']);

      const successor = await TestOwner.takingOver(harness.ledger);
      await (await successor.find('session-1')).recover();

      expect(await harness.ledger.unfinished()).toEqual([]);
    });

    test('are those under a hold that ends by itself, until it has ended, after those where somebody waits', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const hold = (until: string | null) =>
        ({ kind: 'hold', hold: { reason: 'operator', until, by: 'local' } }) as const;
      const timed = await owner.create('timed');
      await timed.run(hold('2030-01-01T00:01:00.000Z'));
      await (await owner.create('for good')).run(hold(null));
      await (await owner.create('waiting')).submit('a');

      const { ledger } = await harness.reopen();
      expect(await ledger.unfinished()).toEqual(['waiting', 'timed']);

      await timed.run({ kind: 'release', by: 'timer', until: null });
      expect(await ledger.unfinished()).toEqual(['waiting']);

      await timed.run(hold('2030-01-01T00:01:00.000Z'));
      await timed.run({ kind: 'delete', by: 'local' });
      expect(await ledger.unfinished()).toEqual(['waiting']);
    });
  });
}
