import type { Backups } from '../../../core/ports/backups.ts';
import type { Ledger, StorageError } from '../../../core/ports/ledger.ts';
import type { SessionQueries } from '../../../core/ports/session-queries.ts';
import type { Opening } from './open-store.ts';
import type { StoreWriterOptions } from './store-writer.ts';

export interface SqliteStorageOptions extends StoreWriterOptions {
  /** Hears of every transaction, with the number of appends in it, when it begins. */
  readonly onBatch?: (requests: number) => void;
  /** Hears of the first failure, of a write, a read or a check, that leaves no trust in the storage: the process must end. */
  readonly onFailure?: (error: StorageError) => void;
  /** Hears the first time that the search index can't be used. Nothing but searches is harmed. */
  readonly onIndexFailure?: (error: unknown) => void;
}

/** An open store behind its ports. */
export interface SqliteStorage {
  readonly storeId: string;
  readonly opening: Opening;
  readonly ledger: Ledger;
  readonly queries: SessionQueries;
  /**
   * Waits for the appends that were called, empties the write-ahead log and closes the file. Later calls fail with a
   * `StorageError`.
   */
  close(): Promise<void>;
}

/** A store that is in use for long: what takes time there doesn't hold up appends and reads. */
export interface ServedStorage extends SqliteStorage {
  readonly backups: Backups;
  /**
   * Looks at every page. What is wrong is answered, and is a failure of the storage. Rejects when the store is closed
   * meanwhile.
   */
  findDamage(): Promise<readonly string[]>;
  /** Resolves when the next owner will know of the damage that was met, if any was. */
  noted(): Promise<void>;
}
