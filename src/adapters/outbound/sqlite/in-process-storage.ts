import type { ReadCall } from './reads.ts';
import { makeReader } from './reads.ts';
import { SqliteLedger } from './sqlite-ledger.ts';
import { makeSqliteQueries } from './sqlite-queries.ts';
import type { SqliteStorage, SqliteStorageOptions } from './sqlite-storage.ts';
import { StoreWriter } from './store-writer.ts';

/**
 * Opens a store in the caller's own thread, reads and writes over one connection: for tests and for tools that do one
 * thing. A daemon wants `openWorkerStorage`, or each fsync stops its event loop.
 */
export async function openInProcessStorage(options: SqliteStorageOptions): Promise<SqliteStorage> {
  return inProcessStorage(new StoreWriter(options), options.onBatch);
}

export function inProcessStorage(writer: StoreWriter, onBatch?: (requests: number) => void): SqliteStorage {
  const reader = makeReader(writer.db);
  const read: ReadCall = async (method, ...args) => reader(method, args);
  const ledger = new SqliteLedger({
    read,
    takeOwnership: async (owner) => writer.takeOwnership(owner),
    appendBatch: async (requests) => {
      onBatch?.(requests.length);
      return writer.appendBatch(requests);
    },
  });
  return {
    storeId: writer.storeId,
    ledger,
    queries: makeSqliteQueries(read),
    async close() {
      await ledger.close();
      writer.close();
    },
  };
}
