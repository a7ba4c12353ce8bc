import type { ReadCall } from './reads.ts';
import { SqliteLedger } from './sqlite-ledger.ts';
import { makeSqliteQueries } from './sqlite-queries.ts';
import type { SqliteStorage, SqliteStorageOptions } from './sqlite-storage.ts';
import { startStorageThreads, terminateStorageThreads } from './storage-threads.ts';
import type { StorageThreads } from './storage-threads.ts';

/** Threads may wait a little for a lock that a backup or a curious person holds: nobody else waits with them. */
const defaultBusyTimeoutMs = 50;

/**
 * Opens a store in two threads, one that writes and one that reads, so that neither an fsync nor a long page of
 * history stops the caller's event loop. It rejects with a `StoreOpenError` when the store can't be opened.
 *
 * Threads that are passed in are left running when the store is closed.
 */
export async function openWorkerStorage(
  options: SqliteStorageOptions,
  ownThreads?: StorageThreads,
): Promise<SqliteStorage> {
  const { onBatch, busyTimeoutMs = defaultBusyTimeoutMs, ...openOptions } = options;
  const threads = ownThreads ?? startStorageThreads();
  const end = async (): Promise<void> => (ownThreads === undefined ? terminateStorageThreads(threads) : undefined);
  try {
    const storeId = await threads.writer.call('open', { ...openOptions, busyTimeoutMs });
    await threads.reader.call('open', { home: options.home, busyTimeoutMs });
    return workerStorage({ storeId, threads, end, onBatch });
  } catch (error) {
    await end();
    throw error;
  }
}

interface OpenedThreads {
  readonly storeId: string;
  readonly threads: StorageThreads;
  readonly end: () => Promise<void>;
  readonly onBatch: SqliteStorageOptions['onBatch'];
}

function workerStorage({ storeId, threads: { writer, reader }, end, onBatch }: OpenedThreads): SqliteStorage {
  // TypeScript can't see that the answer to a method is that method's answer.
  const read: ReadCall = (method, ...args) => reader.call('read', method, args) as never;
  const ledger = new SqliteLedger({
    read,
    takeOwnership: (owner) => writer.call('takeOwnership', owner),
    appendBatch: (requests) => {
      onBatch?.(requests.length);
      return writer.call('appendBatch', requests);
    },
  });
  return {
    storeId,
    ledger,
    queries: makeSqliteQueries(read),
    async close() {
      await ledger.close();
      try {
        // The reader first: while it has the file open the write-ahead log can't be removed.
        await reader.call('close');
        await writer.call('close');
      } finally {
        await end();
      }
    },
  };
}
