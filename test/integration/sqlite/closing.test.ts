import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { openInProcessStorage } from '../../../src/adapters/outbound/sqlite/in-process-storage.ts';
import { schemaVersion } from '../../../src/adapters/outbound/sqlite/migrations.ts';
import { openStore } from '../../../src/adapters/outbound/sqlite/open-store.ts';
import { storePath } from '../../../src/adapters/outbound/sqlite/store-files.ts';
import { startStorageThreads, terminateStorageThreads } from '../../../src/adapters/outbound/sqlite/storage-threads.ts';
import { openWorkerStorage } from '../../../src/adapters/outbound/sqlite/worker-storage.ts';
import type { StorageError } from '../../../src/core/ports/ledger.ts';
import { zeroFirstLeafOf } from './damage.ts';
import { WorkingStore, markIn } from './killed-store.ts';
import { creation, ownerOf } from './prompts.ts';
import { temporaryHome } from './temporary-home.ts';

/** Nothing is brought into the file in the background. */
const intervalMs = 3_600_000;
const newStoreId = 'store-1';

const forms = [
  ['in-process', openInProcessStorage],
  ['in worker threads', openWorkerStorage],
] as const;

describe('a store that can’t be trusted is closed as it is, file and log', () => {
  test.each(forms)('after a read that met damage, %s', async (_, open) => {
    const earlier = new WorkingStore();
    await earlier.work(40);
    await earlier.storage.close();
    const { home } = earlier;
    zeroFirstLeafOf(home, 'session_admissions');
    const storage = await open({ home, newStoreId, intervalMs });
    await storage.ledger.append(creation('before', await ownerOf(storage.ledger)));
    const page = { sessionId: 'session-1', include: 'all', limit: 10, after: null } as const;
    await expect(storage.queries.listAdmissions(page)).rejects.toMatchObject({ kind: 'corrupt' });
    const before = contentOf(home);

    await storage.close();

    expect(contentOf(home)).toEqual(before);
    expect(markIn(home).state).toBe('suspect');
  });

  test('after a read that meets damage while the store is being closed', async () => {
    const earlier = new WorkingStore();
    await earlier.work(40);
    await earlier.storage.close();
    const { home } = earlier;
    zeroFirstLeafOf(home, 'session_admissions');
    const failures: string[] = [];
    const onFailure = ({ kind }: StorageError): void => void failures.push(kind);
    const storage = await openWorkerStorage({ home, newStoreId, intervalMs, onFailure });
    await storage.ledger.append(creation('before', await ownerOf(storage.ledger)));
    const before = contentOf(home);

    const page = { sessionId: 'session-1', include: 'all', limit: 10, after: null } as const;
    const read = storage.queries.listAdmissions(page);
    const end = storage.close();

    await expect(read).rejects.toMatchObject({ kind: 'corrupt' });
    await end;
    expect(failures).toEqual(['corrupt']);
    expect(contentOf(home)).toEqual(before);
    expect(markIn(home).state).toBe('suspect');
  });

  test.each(['io', 'corrupt'] as const)('after a failure of kind %s that somebody else has met', async (kind) => {
    const store = new WorkingStore(temporaryHome(), { intervalMs });
    await store.work(5);
    const before = contentOf(store.home);

    store.writer.distrust(kind);
    await store.storage.close();

    expect(contentOf(store.home)).toEqual(before);
    expect(markIn(store.home).state).toBe(kind === 'io' ? 'open' : 'suspect');
  });

  test('after an append that found that its file had been moved away', async () => {
    const store = new WorkingStore(temporaryHome(), { intervalMs });
    await store.work(5);
    const elsewhere = temporaryHome();
    const before = contentOf(store.home);
    renameSync(store.path, storePath(elsewhere));
    await expect(store.work(1)).rejects.toMatchObject({ kind: 'io' });

    await store.storage.close();

    renameSync(storePath(elsewhere), store.path);
    expect(contentOf(store.home)).toEqual(before);
  });

  test('after a failure in the background, which it tells', async () => {
    const store = new WorkingStore();
    await store.work(1);
    await store.marked();
    const mark = join(store.home, 'state.hwm');
    renameSync(mark, `${mark}.away`);
    mkdirSync(mark);
    await store.work(1);
    await vi.waitFor(() => expect(store.writer.isTrusted).toBe(false), { timeout: 10_000, interval: 2 });
    const before = contentOf(store.home);

    await expect(store.storage.close()).rejects.toMatchObject({ name: 'StorageError', kind: 'io' });

    expect(contentOf(store.home)).toEqual(before);
    rmSync(mark, { recursive: true });
  });

  test('when it could not even be opened to its end', async () => {
    const store = new WorkingStore(temporaryHome(), { intervalMs });
    await store.work(5);
    store.writer.db.pragma(`user_version = ${String(schemaVersion - 1)}`); // a step that can't be made twice
    const home = store.killed();
    const before = contentOf(home);

    expect(() => openStore({ home, newStoreId })).toThrow(/state\.db/);

    expect(contentOf(home)).toEqual(before);
  });
});

describe('a store that is closed in order', () => {
  test.each(forms)('has no log, and nothing to be looked at in the next start, %s', async (_, open) => {
    const home = temporaryHome();
    const storage = await open({ home, newStoreId, intervalMs });
    await storage.ledger.append(creation('a', await ownerOf(storage.ledger)));

    await storage.close();

    expect(contentOf(home).log).toBeNull();
    expect(markIn(home)).toMatchObject({ state: 'closed', commits: 2, checkpointed: 2 });
  });

  test('is one, too, when its readers could not be opened', async () => {
    const home = temporaryHome();
    const threads = startStorageThreads();
    const reader = { call: () => Promise.reject(new Error('No thread.')), terminate: async () => undefined };

    // The reader is never asked for anything else.
    await expect(openWorkerStorage({ home, newStoreId }, { ...threads, reader: reader as never })).rejects.toThrow(
      'No thread.',
    );

    expect(markIn(home).state).toBe('closed');
    await terminateStorageThreads(threads);
  });
});

describe('after an owner that died', () => {
  async function aStoreThatWasKilled(): Promise<string> {
    const store = new WorkingStore(temporaryHome(), { intervalMs });
    await store.work(5);
    return store.killed();
  }

  test('a look for damage stays due until somebody has looked: a stop that comes before it doesn’t count', async () => {
    const home = await aStoreThatWasKilled();

    for (let n = 0; n < 2; n += 1) {
      const storage = await openWorkerStorage({ home, newStoreId });
      expect(storage.opening.lastStop).toBe('unclean');
      await storage.close();
      expect(contentOf(home).log).toBeNull();
    }
  });

  test('no look is due any more when one has found nothing', async () => {
    const home = await aStoreThatWasKilled();
    const storage = await openWorkerStorage({ home, newStoreId });
    expect(await storage.findDamage()).toEqual([]);
    await storage.close();

    const next = await openWorkerStorage({ home, newStoreId });

    expect(next.opening.lastStop).toBe('clean');
    await next.close();
  });
});

/** What is in the database and in its log, as digests; null where there is no such file. */
function contentOf(home: string): { readonly file: string | null; readonly log: string | null } {
  const read = (path: string): string | null =>
    existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : null;
  return { file: read(storePath(home)), log: read(`${storePath(home)}-wal`) };
}
