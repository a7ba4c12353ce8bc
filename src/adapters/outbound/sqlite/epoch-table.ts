import type Database from 'better-sqlite3';
import type { Ownership } from '../../../core/ports/ledger.ts';

interface EpochRow {
  readonly epoch: number;
  readonly store_id: string;
}

/** The one row that says who owns the store. */
export class EpochTable {
  readonly #read: Database.Statement<[], EpochRow>;
  readonly #raise: Database.Statement<[{ readonly instanceId: string; readonly now: string }], EpochRow>;
  readonly #create: Database.Statement<[string]>;

  constructor(db: Database.Database) {
    this.#read = db.prepare('SELECT epoch, store_id FROM runtime_epoch WHERE singleton = 1');
    this.#raise = db.prepare(
      `UPDATE runtime_epoch SET epoch = epoch + 1, instance_id = @instanceId, started_at = @now
       WHERE singleton = 1 RETURNING epoch, store_id`,
    );
    this.#create = db.prepare('INSERT OR IGNORE INTO runtime_epoch (singleton, epoch, store_id) VALUES (1, 0, ?)');
  }

  current(): number {
    return this.#row().epoch;
  }

  storeId(): string {
    return this.#row().store_id;
  }

  /** Gives a new store its id; a store that has one keeps it. */
  create(storeId: string): void {
    this.#create.run(storeId);
  }

  raise(owner: { readonly instanceId: string; readonly now: string }): Pick<Ownership, 'epoch' | 'storeId'> {
    const row = this.#raise.get({ instanceId: owner.instanceId, now: owner.now });
    if (row === undefined) throw new Error('The store has no row for its owner');
    return { epoch: row.epoch, storeId: row.store_id };
  }

  #row(): EpochRow {
    const row = this.#read.get();
    if (row === undefined) throw new Error('The store has no row for its owner');
    return row;
  }
}
