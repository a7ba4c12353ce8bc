import type Database from 'better-sqlite3';
import type { Ownership } from '../../../core/ports/ledger.ts';

interface EpochRow {
  readonly epoch: number;
  readonly store_id: string;
  readonly commits: number;
}

/** The one row that says who owns the store, and how far it has come. */
export class EpochTable {
  readonly #read: Database.Statement<[], EpochRow>;
  readonly #raise: Database.Statement<[{ readonly instanceId: string; readonly now: string }], EpochRow>;
  readonly #create: Database.Statement<[string]>;
  readonly #count: Database.Statement<[number], number>;
  readonly #renew: Database.Statement<[{ readonly storeId: string; readonly epoch: number }]>;

  constructor(db: Database.Database) {
    this.#read = db.prepare('SELECT epoch, store_id, commits FROM runtime_epoch WHERE singleton = 1');
    this.#raise = db.prepare(
      `UPDATE runtime_epoch SET epoch = epoch + 1, commits = commits + 1, instance_id = @instanceId, started_at = @now
       WHERE singleton = 1 RETURNING epoch, store_id, commits`,
    );
    this.#create = db.prepare('INSERT OR IGNORE INTO runtime_epoch (singleton, epoch, store_id) VALUES (1, 0, ?)');
    this.#count = db
      .prepare<[number], number>(
        'UPDATE runtime_epoch SET commits = commits + 1, events = events + ? WHERE singleton = 1 RETURNING commits',
      )
      .pluck();
    this.#renew = db.prepare(
      'UPDATE runtime_epoch SET store_id = @storeId, epoch = @epoch, commits = commits + 1 WHERE singleton = 1',
    );
  }

  current(): number {
    return this.#row().epoch;
  }

  storeId(): string {
    return this.#row().store_id;
  }

  /** The number of the newest commit. */
  commits(): number {
    return this.#row().commits;
  }

  /** Numbers the transaction that it is called in, and counts the events that it writes. */
  countCommit(events: number): number {
    return this.#count.get(events) ?? this.#missing();
  }

  /** Makes another store of it, because its history is not the one that clients know. The epoch never goes back. */
  renew(storeId: string, epoch: number): void {
    this.#renew.run({ storeId, epoch });
  }

  /** Gives a new store its id; a store that has one keeps it. */
  create(storeId: string): void {
    this.#create.run(storeId);
  }

  raise(owner: { readonly instanceId: string; readonly now: string }): Pick<Ownership, 'epoch' | 'storeId'> {
    const row = this.#raise.get({ instanceId: owner.instanceId, now: owner.now });
    if (row === undefined) return this.#missing();
    return { epoch: row.epoch, storeId: row.store_id };
  }

  #row(): EpochRow {
    return this.#read.get() ?? this.#missing();
  }

  #missing(): never {
    throw new Error('The store has no row for its owner');
  }
}
