import type { Ledger } from '../../../core/ports/ledger.ts';
import type { SessionQueries } from '../../../core/ports/session-queries.ts';
import type { OpenStoreOptions } from './open-store.ts';

export interface SqliteStorageOptions extends OpenStoreOptions {
  /** Hears of every transaction, with the number of appends in it, when it begins. */
  readonly onBatch?: (requests: number) => void;
}

/** An open store behind its ports. */
export interface SqliteStorage {
  readonly storeId: string;
  readonly ledger: Ledger;
  readonly queries: SessionQueries;
  /**
   * Waits for the appends that were called, empties the write-ahead log and closes the file. Later calls fail with a
   * `StorageError`.
   */
  close(): Promise<void>;
}
