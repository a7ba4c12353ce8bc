import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openInProcessStorage } from '../../src/adapters/outbound/sqlite/in-process-storage.ts';
import type { SqliteStorage, SqliteStorageOptions } from '../../src/adapters/outbound/sqlite/sqlite-storage.ts';
import { startStorageThreads, terminateStorageThreads } from '../../src/adapters/outbound/sqlite/storage-threads.ts';
import type { StorageThreads } from '../../src/adapters/outbound/sqlite/storage-threads.ts';
import { openWorkerStorage } from '../../src/adapters/outbound/sqlite/worker-storage.ts';
import { describeLedgerContract } from './ledger-contract.ts';
import type { LedgerHarness, MakeLedgerHarness } from './ledger-contract.ts';

type OpenStorage = (options: SqliteStorageOptions) => Promise<SqliteStorage>;

/** From sources a thread takes a third of a second to start: the tests share them. */
const idleThreads: StorageThreads[] = [];

describeLedgerContract('SQLite, in-process', harnessOver(openInProcessStorage));
describeLedgerContract('SQLite, in worker threads', harnessOver(openInSharedThreads));
afterAll(() => Promise.all(idleThreads.map(terminateStorageThreads)));

function harnessOver(open: OpenStorage): MakeLedgerHarness {
  return async (): Promise<LedgerHarness> => {
    const home = await mkdtemp(join(tmpdir(), 'holdfast-ledger-'));
    const opened: SqliteStorage[] = [];
    const openOne = async (): Promise<SqliteStorage> => {
      const storage = await open({ home, newStoreId: `store-${String(opened.length + 1)}`, synchronous: 'normal' });
      opened.push(storage);
      return storage;
    };
    const { ledger, queries } = await openOne();
    return {
      ledger,
      queries,
      reopen: openOne,
      async close() {
        for (const storage of opened) await storage.close();
        await rm(home, { recursive: true });
      },
    };
  };
}

async function openInSharedThreads(options: SqliteStorageOptions): Promise<SqliteStorage> {
  const threads = idleThreads.pop() ?? startStorageThreads();
  const storage = await openWorkerStorage(options, threads);
  return {
    ...storage,
    async close() {
      await storage.close();
      idleThreads.push(threads);
    },
  };
}
