import type Database from 'better-sqlite3';
import type { AppendRequest, Ownership } from '../../../core/ports/ledger.ts';
import { FileIdentity } from './file-identity.ts';
import { openStore } from './open-store.ts';
import type { OpenStoreOptions } from './open-store.ts';
import { SqliteStore } from './store.ts';
import type { AppendOutcome } from './store.ts';

/** The one writer of a store file: what runs in the writer's thread, or in the caller's own. */
export class StoreWriter {
  readonly db: Database.Database;
  readonly storeId: string;
  readonly #store: SqliteStore;
  readonly #file: FileIdentity;

  constructor(options: OpenStoreOptions) {
    const { db, path, storeId } = openStore(options);
    this.db = db;
    this.storeId = storeId;
    this.#store = new SqliteStore(db);
    this.#file = new FileIdentity(path);
  }

  appendBatch(requests: readonly AppendRequest[]): readonly AppendOutcome[] {
    this.#file.assertSame();
    return this.#store.appendBatch(requests);
  }

  takeOwnership(owner: { readonly instanceId: string; readonly now: string }): Ownership {
    this.#file.assertSame();
    return this.#store.takeOwnership(owner);
  }

  /** Empties the write-ahead log into the database, as far as no reader is in the way, and closes the file. */
  close(): void {
    try {
      this.db.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      this.db.close();
    }
  }
}
