import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { openInProcessStorage } from '../../../src/adapters/outbound/sqlite/in-process-storage.ts';
import { openStore } from '../../../src/adapters/outbound/sqlite/open-store.ts';
import { storePath } from '../../../src/adapters/outbound/sqlite/store-files.ts';
import { openWorkerStorage } from '../../../src/adapters/outbound/sqlite/worker-storage.ts';
import type { StorageError } from '../../../src/core/ports/ledger.ts';
import { zeroFirstLeafOf } from './damage.ts';
import { WorkingStore, commitsIn, markIn } from './killed-store.ts';
import { creation, ownerOf } from './prompts.ts';
import { temporaryHome } from './temporary-home.ts';

describe('the mark', () => {
  test('is raised after commits, and says whose they are', async () => {
    const store = new WorkingStore();
    await store.work(4);
    await store.marked();

    expect(store.mark).toMatchObject({ storeId: 'store-1', epoch: 1, commits: 9, state: 'open' });
  });

  test('is not raised by an append that was refused, since nothing was written', async () => {
    const store = new WorkingStore();
    await store.work(1);
    const before = store.commits;

    const again = await store.storage.ledger.append(creation('session-1', 1));

    expect(again.kind).toBe('stale');
    expect(store.commits).toBe(before);
  });

  test('counts transactions and not appends', async () => {
    const store = new WorkingStore();
    const epoch = await ownerOf(store.storage.ledger);

    await Promise.all(['a', 'b', 'c'].map((id) => store.storage.ledger.append(creation(id, epoch))));

    expect(store.commits).toBe(2);
  });

  test('that can’t be written any more ends the appends', async () => {
    const store = new WorkingStore();
    await store.work(1);
    await store.marked();
    const path = join(store.home, 'state.hwm');
    renameSync(path, `${path}.away`);
    mkdirSync(path);

    await vi.waitFor(
      async () => {
        await expect(store.work(1)).rejects.toMatchObject({ name: 'StorageError', kind: 'io' });
      },
      { timeout: 10_000, interval: 5 },
    );
    rmSync(path, { recursive: true });
  });
});

describe('the log of a store that rests', () => {
  test.each(['full', 'normal'] as const)('is in the file soon after, with synchronous: %s', async (synchronous) => {
    const store = new WorkingStore(temporaryHome(), { synchronous });
    await store.work(5);

    await vi.waitFor(() => expect(commitsWithoutLog(store)).toBe(11), { timeout: 10_000, interval: 5 });
  });

  test('is emptied when it is longer than its limit, once nobody keeps it any more', async () => {
    const store = new WorkingStore(temporaryHome(), { maxWalBytes: 50_000 });
    await store.work(1);
    const kept = store.keepInLog();
    await store.work(20);
    await store.marked();
    expect(statSync(`${store.path}-wal`).size).toBeGreaterThan(50_000);

    kept.release();
    await store.work(1);

    await vi.waitFor(() => expect(statSync(`${store.path}-wal`).size).toBeLessThan(50_000), {
      timeout: 10_000,
      interval: 5,
    });
    await store.work(1);
    await store.marked();
    expect(store.mark.checkpointed).toBeGreaterThanOrEqual(43);
  });
});

describe('damage', () => {
  test.each([
    ['in-process', openInProcessStorage],
    ['in worker threads', openWorkerStorage],
  ])('that a list meets ends the appends, is told once, and is known to the next start, %s', async (_, open) => {
    const store = new WorkingStore();
    await store.work(40);
    await store.storage.close();
    zeroFirstLeafOf(store.home, 'session_admissions');
    const failures: StorageError[] = [];
    const storage = await open({ home: store.home, newStoreId: 'another', onFailure: (error) => failures.push(error) });
    const epoch = await ownerOf(storage.ledger);
    const page = { sessionId: 'session-1', include: 'all', limit: 10, after: null } as const;

    await expect(storage.queries.listAdmissions(page)).rejects.toMatchObject({ kind: 'corrupt' });
    await expect(storage.queries.listAdmissions(page)).rejects.toMatchObject({ kind: 'corrupt' });
    await expect(storage.ledger.append(creation('after', epoch))).rejects.toMatchObject({ kind: 'corrupt' });
    await storage.close();

    expect(failures).toMatchObject([{ kind: 'corrupt' }]);
    expect(markIn(store.home).state).toBe('suspect');
    expect(() => openStore({ home: store.home, newStoreId: 'another' })).toThrow(/is damaged/);
  });

  test('that nobody has met yet is found by looking for it', async () => {
    const store = new WorkingStore();
    await store.work(40);
    await store.storage.close();
    zeroFirstLeafOf(store.home, 'session_admissions');
    const failures: StorageError[] = [];
    const storage = await openWorkerStorage({
      home: store.home,
      newStoreId: 'another',
      onFailure: (error) => failures.push(error),
    });

    const damage = await storage.findDamage();

    expect(damage.length).toBeGreaterThan(0);
    expect(failures).toMatchObject([{ kind: 'corrupt' }]);
    await storage.close();
    expect(markIn(store.home).state).toBe('suspect');
  });

  test('is not found in a sound store, while it is written to', async () => {
    const storage = await openWorkerStorage({ home: temporaryHome(), newStoreId: 'store-1' });
    const epoch = await ownerOf(storage.ledger);

    const damage = storage.findDamage();
    for (let n = 0; n < 20; n += 1) await storage.ledger.append(creation(`session-${String(n)}`, epoch));

    expect(await damage).toEqual([]);
    await storage.close();
  });
});

test('a store that is closed tells nobody of calls that come too late', async () => {
  const failures: StorageError[] = [];
  const storage = await openWorkerStorage({
    home: temporaryHome(),
    newStoreId: 'store-1',
    onFailure: (error) => failures.push(error),
  });
  await storage.close();

  await expect(storage.ledger.load('session-1')).rejects.toMatchObject({ kind: 'io' });
  expect(failures).toEqual([]);
});

/** What a home would hold if its log were lost now. */
function commitsWithoutLog(store: WorkingStore): number {
  const home = store.killed();
  rmSync(`${storePath(home)}-wal`, { force: true });
  rmSync(join(home, 'state.hwm'));
  const { db } = openStore({ home, newStoreId: 'another' });
  const commits = commitsIn(db) - 1; // a store without a mark gets another id, which is a commit
  db.close();
  return commits;
}
