import type Database from 'better-sqlite3';
import { StorageError } from '../../../core/ports/ledger.ts';
import type { AppendRequest, Ownership } from '../../../core/ports/ledger.ts';
import { FileIdentity } from './file-identity.ts';
import { holdLog } from './hold-log.ts';
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
  readonly #heldLog: Database.Database;
  #trusted = true;
  /** Whether the next owner need not look for damage: the last one ended in order, or somebody has looked since. */
  #checked: boolean;

  constructor(options: StoreWriterOptions) {
    const { db, path, storeId, mark, opening } = openStore(options);
    this.db = db;
    this.home = options.home;
    this.storeId = storeId;
    this.opening = opening;
    this.#checked = opening.lastStop !== 'unclean';
    this.#heldLog = holdLog(path);
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

  get isTrusted(): boolean {
    return this.#trusted && this.#upkeep.failure === null;
  }

  /**
   * The storage has failed, here or for somebody who reads: nothing more is written. After damage the next owner must
   * look at everything first.
   */
  distrust(kind: StorageError['kind']): void {
    this.#trusted = false;
    this.#upkeep.stop();
    if (kind === 'corrupt') this.#upkeep.suspect();
  }

  /** Somebody has looked for damage since the store was opened, and found none. */
  checked(): void {
    this.#checked = true;
  }

  /**
   * Empties the write-ahead log into the database, as far as no reader and no full disk is in the way, and closes the
   * file. What stays in the log is no less safe. A store that can't be trusted is closed as it is: nothing of it is
   * overwritten. Throws what made it so if nobody has heard of that yet.
   */
  close(): void {
    this.#upkeep.stop();
    try {
      if (this.isTrusted) this.#emptyAndClose();
      else if (this.#trusted) this.#upkeep.assertSound();
    } finally {
      this.db.close();
      this.#heldLog.close();
    }
  }

  #emptyAndClose(): void {
    try {
      this.#upkeep.emptyLog();
      this.#heldLog.close();
      this.db.close();
      this.#upkeep.closed(this.#checked ? 'closed' : 'open');
    } catch (error) {
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
      if (error instanceof StorageError && error.outcomeUnknown) this.#distrustQuietly(error.kind);
      throw error;
    }
  }

  #distrustQuietly(kind: StorageError['kind']): void {
    try {
      this.distrust(kind);
    } catch {
      // Without the note the next owner has no worse a start than after any other death.
    }
  }
}
