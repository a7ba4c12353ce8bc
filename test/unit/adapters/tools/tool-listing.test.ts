import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import type { ListedTool } from '../../../../src/adapters/outbound/tools/listed-tools.ts';
import { ToolListing } from '../../../../src/adapters/outbound/tools/tool-listing.ts';
import { noSignal } from '../../../support/mcp/tool-bench.ts';

const tool = (name: string): ListedTool => ({ name, description: '', parameters: { type: 'object' } });

/** A listing whose fetches the test ends. */
function aListing() {
  const clock = new FakeClock();
  const fetches: {
    resolve: (tools: readonly ListedTool[]) => void;
    reject: (error: Error) => void;
    signal: AbortSignal;
  }[] = [];
  const listing = new ToolListing(
    (signal) => new Promise((resolve, reject) => fetches.push({ resolve, reject, signal })),
    { timeoutMs: 1_000, clock },
  );
  return { clock, fetches, listing };
}

describe('the list of tools', () => {
  test('is fetched once for all who ask', async () => {
    const { fetches, listing } = aListing();
    const all = [listing.tools(), listing.tools()];
    fetches[0]?.resolve([tool('a')]);

    expect(await Promise.all([...all, listing.tools()])).toEqual([[tool('a')], [tool('a')], [tool('a')]]);
    expect([fetches.length, listing.count]).toEqual([1, 1]);
  });

  test('is fetched again after a change, also after one that came during a fetch', async () => {
    const { fetches, listing } = aListing();
    const before = listing.tools();
    listing.markChanged();
    const after = listing.tools();
    fetches[1]?.resolve([tool('a'), tool('b')]);
    fetches[0]?.resolve([tool('a')]);

    expect([await before, await after, await listing.tools()]).toEqual([
      [tool('a')],
      [tool('a'), tool('b')],
      [tool('a'), tool('b')],
    ]);
    expect([fetches.length, listing.count]).toEqual([2, 2]);
  });

  test('stands when a new one can not be had in time, and is asked for again', async () => {
    const { clock, fetches, listing } = aListing();
    const filling = listing.fill(noSignal);
    fetches[0]?.resolve([tool('a')]);
    await filling;
    listing.markChanged();

    const asking = listing.tools();
    fetches[1]?.signal.addEventListener('abort', () => fetches[1]?.reject(new Error('too late')));
    await clock.advance(1_000);

    expect(await asking).toEqual([tool('a')]);
    void listing.tools();
    expect(fetches).toHaveLength(3);
  });

  test('has a first failure that is not hidden', async () => {
    const { fetches, listing } = aListing();
    const filling = listing.fill(noSignal);
    fetches[0]?.reject(new Error('no list'));

    await expect(filling).rejects.toThrow('no list');
  });
});
