import { FailStop } from './fail-stop.ts';
import type { ReadCall } from './reads.ts';
import { makeReader } from './reads.ts';
import { SearchIndex } from './search-index.ts';
import { SqliteLedger } from './sqlite-ledger.ts';
import { makeSqliteQueries } from './sqlite-queries.ts';
import type { SqliteStorage, SqliteStorageOptions } from './sqlite-storage.ts';
import { StoreWriter } from './store-writer.ts';

/**
 * Opens a store in the caller's own thread, reads and writes over one connection: for tests and for tools that do one
 * thing. A daemon wants `openWorkerStorage`, or each fsync stops its event loop.
 */
export async function openInProcessStorage(options: SqliteStorageOptions): Promise<SqliteStorage> {
  return inProcessStorage(new StoreWriter(options), options);
}

export function inProcessStorage(
  writer: StoreWriter,
  { onBatch, onFailure }: Pick<SqliteStorageOptions, 'onBatch' | 'onFailure'> = {},
): SqliteStorage {
  const failStop = new FailStop();
  const reader = makeReader(writer.db);
  const read: ReadCall = (method, ...args) => failStop.watch(answer(() => reader(method, args)));
  const index = new SearchIndex(writer.home, writer.db);
  const ledger = new SqliteLedger({
    read,
    failStop,
    takeOwnership: async (owner) => writer.takeOwnership(owner),
    appendBatch: async (requests) => {
      onBatch?.(requests.length);
      return writer.appendBatch(requests);
    },
  });
  failStop.onFailure((error) => {
    writer.distrust(error.kind);
    onFailure?.(error);
  });
  return {
    storeId: writer.storeId,
    opening: writer.opening,
    ledger,
    queries: makeSqliteQueries(read, (query) => failStop.watch(answer(() => index.search(query, Infinity)))),
    async close() {
      index.close();
      failStop.retire();
      await ledger.close();
      writer.close();
    },
  };
}

async function answer<T>(call: () => T): Promise<T> {
  return call();
}
