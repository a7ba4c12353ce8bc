import { describe, expect, onTestFinished, test } from 'vitest';
import { openInProcessStorage } from '../../../src/adapters/outbound/sqlite/in-process-storage.ts';
import type { SqliteStorage, SqliteStorageOptions } from '../../../src/adapters/outbound/sqlite/sqlite-storage.ts';
import { openWorkerStorage } from '../../../src/adapters/outbound/sqlite/worker-storage.ts';
import type { AppendRequest } from '../../../src/core/ports/ledger.ts';
import { creation, firstPrompt, ownerOf } from './prompts.ts';
import { temporaryHome } from './temporary-home.ts';

const committed = { kind: 'committed' };
const sessionIds = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `session-${n}`);

describe.each([
  ['in-process', openInProcessStorage],
  ['in worker threads', openWorkerStorage],
])('appends that arrive together, %s', (_name, open) => {
  test('share a transaction', async () => {
    const { ledger, batches } = await opened(open);
    const epoch = await ownerOf(ledger);

    const results = await Promise.all(sessionIds(100).map((id) => ledger.append(creation(id, epoch))));

    expect(results).toEqual(results.map(() => committed));
    expect(batches).toEqual([100]);
  });

  test('while a commit runs form the next one', async () => {
    const { ledger, batches } = await opened(open);
    const epoch = await ownerOf(ledger);

    const first = ledger.append(creation('first', epoch));
    await new Promise(setImmediate); // the first one is on its way
    const later = sessionIds(50).map((id) => ledger.append(creation(id, epoch)));
    await Promise.all([first, ...later]);

    expect(batches).toEqual([1, 50]);
  });

  test('are at most 256 in one', async () => {
    const { ledger, batches } = await opened(open);
    const epoch = await ownerOf(ledger);

    await Promise.all(sessionIds(600).map((id) => ledger.append(creation(id, epoch))));

    expect(batches).toEqual([256, 256, 88]);
  });

  test('are at most a mebibyte in one, unless one alone is larger', async () => {
    const { ledger, batches } = await opened(open);
    const epoch = await ownerOf(ledger);
    await Promise.all(sessionIds(4).map((id) => ledger.append(creation(id, epoch))));
    batches.length = 0;

    const sizes = [500_000, 500_000, 500_000, 3_000_000];
    const prompts = sizes.map((size, n) => firstPrompt(`session-${n}`, epoch, n + 1, 'x'.repeat(size)));
    await Promise.all(prompts.map((request) => ledger.append(request)));

    expect(batches).toEqual([2, 1, 1]);
    expect((await ledger.readPayload('admission-4'))?.payload.text).toHaveLength(3_000_000);
  });

  test('do not hurt each other when one breaks a rule', async () => {
    const { ledger, batches } = await opened(open);
    const epoch = await ownerOf(ledger);
    await Promise.all(['a', 'b', 'c', 'd'].map((id) => ledger.append(creation(id, epoch))));
    batches.length = 0;

    const twin = twoPrompts('b', epoch, [2, 1]); // the second has the number and the id of the admission in `a`
    const foreign = { ...firstPrompt('c', epoch, 3), sessionId: 'no such session' };
    const settled = await Promise.allSettled(
      [firstPrompt('a', epoch, 1), twin, foreign, firstPrompt('d', epoch, 4)].map((r) => ledger.append(r)),
    );

    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(batches).toEqual([4]);
    expect(await ledger.unfinished()).toEqual(['a', 'd']);
    expect((await ledger.load('b'))?.open).toEqual([]);
    expect(await ledger.append(firstPrompt('b', epoch, 2))).toEqual(committed);
  });

  test('are answered before the store closes, and none is taken afterwards', async () => {
    const home = temporaryHome();
    const storage = await open({ home, newStoreId: 'store-1' });
    const epoch = await ownerOf(storage.ledger);

    const appends = sessionIds(20).map((id) => storage.ledger.append(creation(id, epoch)));
    await storage.close();

    expect(await Promise.all(appends)).toEqual(appends.map(() => committed));
    await expect(storage.ledger.append(creation('late', epoch))).rejects.toMatchObject({ kind: 'io' });
    await expect(storage.ledger.load('session-1')).rejects.toMatchObject({ name: 'StorageError', kind: 'io' });
    const again = await open({ home, newStoreId: 'store-2' });
    expect(await again.queries.counts()).toMatchObject({ sessions: 20 });
    await again.close();
  });
});

function twoPrompts(sessionId: string, epoch: number, seqs: readonly [number, number]): AppendRequest {
  const [first, second] = seqs.map((seq) => firstPrompt(sessionId, epoch, seq));
  const events = [...(first?.events ?? []), ...(second?.events ?? []).map((event) => ({ ...event, seq: 3 }))];
  return { sessionId, expectedSeq: 1, epoch, events };
}

async function opened(
  open: (options: SqliteStorageOptions) => Promise<SqliteStorage>,
): Promise<SqliteStorage & { readonly batches: number[] }> {
  const batches: number[] = [];
  const onBatch = (requests: number): void => void batches.push(requests);
  const storage = await open({ home: temporaryHome(), newStoreId: 'store-1', onBatch });
  onTestFinished(() => storage.close());
  return { ...storage, batches };
}
