import type Database from 'better-sqlite3';
import { FailStop } from './fail-stop.ts';
import { holdLog } from './hold-log.ts';
import { Maintenance } from './maintenance.ts';
import { storePath } from './store-files.ts';
import type { Opening } from './open-store.ts';
import type { ReadCall } from './reads.ts';
import { SearchThread } from './search-thread.ts';
import { SqliteLedger } from './sqlite-ledger.ts';
import { makeSqliteQueries } from './sqlite-queries.ts';
import type { ServedStorage, SqliteStorageOptions } from './sqlite-storage.ts';
import { startStorageThreads, terminateStorageThreads } from './storage-threads.ts';
import type { StorageThreads } from './storage-threads.ts';

/** Threads may wait a little for a lock that a backup or a curious person holds: nobody else waits with them. */
const defaultBusyTimeoutMs = 50;

/**
 * Opens a store in three threads, one that writes, one that reads for the ledger and one that reads pages, so that
 * neither an fsync nor a long page of history stops the caller's event loop, nor a page the ledger. It rejects with a
 * `StoreOpenError` when the store can't be opened.
 *
 * Threads that are passed in are left running when the store is closed.
 */
export async function openWorkerStorage(
  options: SqliteStorageOptions,
  ownThreads?: StorageThreads,
): Promise<ServedStorage> {
  const { onBatch, onFailure, onIndexFailure, busyTimeoutMs = defaultBusyTimeoutMs, ...openOptions } = options;
  const threads = ownThreads ?? startStorageThreads();
  const end = async (): Promise<void> => (ownThreads === undefined ? terminateStorageThreads(threads) : undefined);
  try {
    const { home } = options;
    const { storeId, opening } = await threads.writer.call('open', { ...openOptions, busyTimeoutMs });
    const heldLog = await openReaders(home, threads, busyTimeoutMs);
    return workerStorage({ storeId, opening, home, heldLog, threads, end, onBatch, onFailure, onIndexFailure });
  } catch (error) {
    await end();
    throw error;
  }
}

/** The log is held in this thread, too: it is the last to end when the process ends in any other way than by `close`. */
async function openReaders(
  home: string,
  { writer, reader, pageReader }: StorageThreads,
  busyTimeoutMs: number,
): Promise<Database.Database> {
  let heldLog: Database.Database | undefined;
  try {
    heldLog = holdLog(storePath(home));
    await reader.call('open', { home, busyTimeoutMs });
    await pageReader.call('open', { home, busyTimeoutMs });
    return heldLog;
  } catch (error) {
    heldLog?.close();
    await writer.call('close').catch(() => undefined); // why it can't be read says more
    throw error;
  }
}

interface OpenedThreads {
  readonly onBatch: SqliteStorageOptions['onBatch'] | undefined;
  readonly onFailure: SqliteStorageOptions['onFailure'] | undefined;
  readonly onIndexFailure: SqliteStorageOptions['onIndexFailure'] | undefined;
  readonly storeId: string;
  readonly opening: Opening;
  readonly home: string;
  readonly heldLog: Database.Database;
  readonly threads: StorageThreads;
  readonly end: () => Promise<void>;
}

function workerStorage(opened: OpenedThreads): ServedStorage {
  const { storeId, opening, home, heldLog, end, onBatch, onFailure, onIndexFailure } = opened;
  const { writer, reader, pageReader } = opened.threads;
  const failStop = new FailStop();
  const maintenance = new Maintenance(storePath(home), failStop);
  const readBy =
    (thread: StorageThreads['reader']): ReadCall =>
    // TypeScript can't see that the answer to a method is that method's answer.
    (method, ...args) =>
      failStop.watch(thread.call('read', method, args)) as never;
  const index = new SearchThread(
    home,
    (error) => void failStop.watch(Promise.reject(error)).catch(() => undefined),
    onIndexFailure,
  );
  const ledger = new SqliteLedger({
    read: readBy(reader),
    failStop,
    takeOwnership: (owner) => writer.call('takeOwnership', owner),
    appendBatch: (requests) => {
      onBatch?.(requests.length);
      index.nudge();
      return writer.call('appendBatch', requests);
    },
  });
  index.nudge();
  let noted = Promise.resolve();
  failStop.onFailure((error) => {
    // If this fails too, the next owner has no worse a start than after any other death.
    noted = writer.call('distrust', error.kind).catch(() => undefined);
    onFailure?.(error);
  });
  return {
    storeId,
    opening,
    ledger,
    queries: makeSqliteQueries(readBy(pageReader), (query) => index.search(query)),
    backups: maintenance,
    async findDamage() {
      const damage = await maintenance.findDamage();
      if (damage.length === 0) await writer.call('checked');
      return damage;
    },
    noted: () => noted,
    async close() {
      failStop.retire();
      await index.close();
      await maintenance.close();
      await ledger.close();
      try {
        // The readers first: while they have the file open the write-ahead log can't be removed.
        await pageReader.call('close');
        await reader.call('close');
        if (await writer.call('isTrusted')) heldLog.close();
        await writer.call('close');
      } finally {
        await end();
        heldLog.close();
      }
    },
  };
}
