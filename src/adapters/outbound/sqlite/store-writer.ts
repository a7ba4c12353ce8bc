import type Database from 'better-sqlite3';
import { StorageError } from '../../../core/ports/ledger.ts';
import type { AppendRequest, Ownership } from '../../../core/ports/ledger.ts';
import { FileIdentity } from './file-identity.ts';
import { openStore } from './open-store.ts';
import type { Opening, OpenStoreOptions } from './open-store.ts';
import { SqliteStore } from './store.ts';
import type { AppendOutcome } from './store.ts';
import { StoreUpkeep, upkeepErrorFrom } from './store-upkeep.ts';
import type { StoreUpkeepOptions } from './store-upkeep.ts';

export type StoreWriterOptions = OpenStoreOptions & Pick<StoreUpkeepOptions, 'intervalMs' | 'maxWalBytes'>;

/** The one writer of a store file: what runs in the writer's thread, or in the caller's own. */
export class StoreWriter {
  readonly db: Database.Database;
  readonly home: string;
  readonly storeId: string;
  readonly opening: Opening;
  readonly #store: SqliteStore;
  readonly #file: FileIdentity;
  readonly #upkeep: StoreUpkeep;
  #trusted = true;

  constructor(options: StoreWriterOptions) {
    const { db, path, storeId, mark, opening } = openStore(options);
    this.db = db;
    this.home = options.home;
    this.storeId = storeId;
    this.opening = opening;
    this.#store = new SqliteStore(db);
    this.#file = new FileIdentity(path);
    const { synchronous = 'full', ...upkeep } = options;
    this.#upkeep = new StoreUpkeep(
      { ...upkeep, db, path, mark, synchronous },
      { epoch: mark.mark.epoch, commits: this.#store.commits },
    );
  }

  appendBatch(requests: readonly AppendRequest[]): readonly AppendOutcome[] {
    return this.#guarded(() => {
      const outcomes = this.#store.appendBatch(requests);
      this.#upkeep.committed(this.#store.commits);
      return outcomes;
    });
  }

  takeOwnership(owner: { readonly instanceId: string; readonly now: string }): Ownership {
    return this.#guarded(() => {
      const ownership = this.#store.takeOwnership(owner);
      this.#upkeep.committed(this.#store.commits, ownership.epoch);
      return ownership;
    });
  }

  /** Damage was met, here or by somebody who reads: the next owner must look at everything first. */
  suspect(): void {
    this.#trusted = false;
    this.#upkeep.suspect();
  }

  /**
   * Empties the write-ahead log into the database, as far as no reader and no full disk is in the way, and closes the
   * file. What stays in the log is no less safe.
   */
  close(): void {
    this.#upkeep.stop();
    try {
      this.#upkeep.emptyLog();
      this.db.close();
      if (this.#trusted) this.#upkeep.closed();
    } catch (error) {
      this.db.close();
      const failure = upkeepErrorFrom(error);
      if (failure.outcomeUnknown) throw failure;
    }
  }

  #guarded<T>(write: () => T): T {
    try {
      this.#file.assertSame();
      this.#upkeep.assertSound();
      return write();
    } catch (error) {
      if (error instanceof StorageError && error.outcomeUnknown) {
        this.#trusted = false;
        this.#upkeep.stop();
      }
      throw error;
    }
  }
}
