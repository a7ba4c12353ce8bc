import type { MemoryStore } from '../../../src/adapters/outbound/memory/memory-store.ts';
import type { MemoryTables } from '../../../src/adapters/outbound/memory/memory-tables.ts';
import type { AppendRequest, AppendResult, Ownership } from '../../../src/core/ports/ledger.ts';
import type { CoreUnderTest } from '../core-under-test.ts';
import type { Owner } from '../world/world.ts';

/** What changes a store. */
export type Write = { readonly kind: 'ownership' } | { readonly kind: 'append'; readonly request: AppendRequest };
export type Written = { readonly ownership: Ownership } | { readonly result: AppendResult };

/** A write with its answer, in an order in which any other store must answer the same. */
export interface JournalEntry {
  readonly write: Write;
  readonly written: Written;
}

interface Unsynced {
  readonly writer: Owner;
  readonly write: Write;
  /** Its place in the log. */
  readonly number: number;
}

export interface DiskObserver {
  /** A write is durable; it is seen by every reader from now on. */
  durable(write: Write): void;
}

/**
 * A disk with one store on it, shared by every process. It has two images: what is written, which writers decide on,
 * and what is durable, which readers see. A crash loses a suffix of what was written and not synced.
 */
export class Disk {
  /** The rows of the durable image. */
  readonly tables: MemoryTables;
  readonly durable: MemoryStore;
  /** Every durable write, and the refusals that were given while everything written was durable. */
  readonly journal: JournalEntry[] = [];
  #written: MemoryStore;
  #unsynced: Unsynced[] = [];
  /** Written before a sync failed: the next who opens the store may find them, or not. */
  #limbo: Unsynced[] = [];
  #writes = 0;
  readonly #observer: DiskObserver;

  constructor(core: CoreUnderTest, observer: DiskObserver) {
    this.tables = core.emptyTables('store');
    this.durable = new core.MemoryStore('store', this.tables);
    this.#written = new core.MemoryStore('store');
    this.#observer = observer;
  }

  get unsyncedCount(): number {
    return this.#unsynced.length;
  }

  get limboCount(): number {
    return this.#limbo.length;
  }

  write(writer: Owner, write: Write): Written {
    const written = applied(this.#written, write);
    const changes = 'ownership' in written || written.result.kind === 'committed';
    if (changes) {
      this.#writes += 1;
      this.#unsynced.push({ writer, write, number: this.#writes });
      this.#limbo = []; // Whoever writes next writes over what a failed sync left behind.
    } else if (this.#unsynced.length === 0) this.journal.push({ write, written });
    return written;
  }

  /** Everything that is written becomes durable, in its order. */
  sync(): void {
    for (const { write } of this.#unsynced.splice(0)) this.#makeDurable(write);
  }

  /** A writer's sync failed: nobody sees what it has written, and nobody knows whether it is there. */
  failSync(writer: Owner): void {
    this.#limbo = this.#unsynced.filter((own) => own.writer === writer);
    this.#unsynced = this.#unsynced.filter((other) => other.writer !== writer);
    this.#written = this.durable.clone();
    for (const { write } of this.#unsynced) applied(this.#written, write);
  }

  /** The power fails or the writer dies: the last `lost` writes are gone, the others are there. */
  crash(lost: number): void {
    if (this.#unsynced.length === 0) return;
    const kept = this.#unsynced.splice(0, this.#unsynced.length - lost);
    this.#unsynced = [];
    for (const { write } of kept) this.#makeDurable(write);
    this.#written = this.durable.clone();
  }

  /** The store is opened anew: the first `found` writes of a failed sync are there after all. */
  open(found: number): void {
    const limbo = this.#limbo.splice(0);
    if (found === 0) return;
    for (const { number, write } of limbo.slice(0, found)) {
      // It is one log: what is found in it has everything before it.
      const earlier = this.#unsynced.filter((other) => other.number < number);
      this.#unsynced = this.#unsynced.filter((other) => other.number > number);
      for (const other of earlier) this.#makeDurable(other.write);
      this.#makeDurable(write);
    }
    this.#written = this.durable.clone();
    for (const { write } of this.#unsynced) applied(this.#written, write);
  }

  #makeDurable(write: Write): void {
    this.journal.push({ write, written: applied(this.durable, write) });
    this.#observer.durable(write);
  }
}

function applied(store: MemoryStore, write: Write): Written {
  return write.kind === 'ownership' ? { ownership: store.takeOwnership() } : { result: store.append(write.request) };
}
