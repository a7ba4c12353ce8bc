import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished, vi } from 'vitest';
import { readMark } from '../../../src/adapters/outbound/sqlite/high-water-mark.ts';
import type { HighWaterMark } from '../../../src/adapters/outbound/sqlite/high-water-mark.ts';
import { inProcessStorage } from '../../../src/adapters/outbound/sqlite/in-process-storage.ts';
import type { SqliteStorage } from '../../../src/adapters/outbound/sqlite/sqlite-storage.ts';
import { StoreWriter } from '../../../src/adapters/outbound/sqlite/store-writer.ts';
import type { StoreWriterOptions } from '../../../src/adapters/outbound/sqlite/store-writer.ts';
import { creation, firstPrompt, ownerOf } from './prompts.ts';
import { temporaryHome } from './temporary-home.ts';

export const storeFiles = ['state.db', 'state.db-wal', 'state.hwm'] as const;

/** What is worth nothing by itself: SQLite makes it anew from the log. */
const indexOfLog = 'state.db-shm';

/** A store with an owner that works, and what a test does to it. */
export class WorkingStore {
  readonly home: string;
  readonly writer: StoreWriter;
  readonly storage: SqliteStorage;
  #epoch = 0;
  #prompts = 0;

  constructor(home = temporaryHome(), options: Partial<StoreWriterOptions> = {}) {
    this.home = home;
    this.writer = new StoreWriter({ home, newStoreId: 'store-1', intervalMs: 1, ...options });
    this.storage = inProcessStorage(this.writer);
    onTestFinished(async () => {
      if (this.writer.db.open) await this.storage.close();
    });
  }

  get path(): string {
    return join(this.home, 'state.db');
  }

  get mark(): HighWaterMark {
    return markIn(this.home);
  }

  get commits(): number {
    return commitsIn(this.writer.db);
  }

  /** Queues prompts, each in a session of its own, and waits until they are acknowledged. */
  async work(prompts: number): Promise<void> {
    if (this.#epoch === 0) this.#epoch = await ownerOf(this.storage.ledger);
    for (let n = 0; n < prompts; n += 1) {
      this.#prompts += 1;
      const sessionId = `session-${String(this.#prompts)}`;
      await this.storage.ledger.append(creation(sessionId, this.#epoch));
      await this.storage.ledger.append(firstPrompt(sessionId, this.#epoch, this.#prompts, 'x'.repeat(300)));
    }
  }

  /** Waits until the mark knows of every commit. */
  async marked(): Promise<void> {
    await vi.waitFor(
      () => {
        if (this.mark.commits !== this.commits) throw new Error('the mark is not raised yet');
      },
      { timeout: 10_000, interval: 2 },
    );
  }

  /** Keeps every later commit in the log, as somebody does who looks at the store for long. */
  keepInLog(): { readonly release: () => void } {
    const reader = new Database(this.path, { readonly: true });
    reader.exec('BEGIN');
    commitsIn(reader);
    onTestFinished(() => void reader.close());
    return { release: () => void reader.close() };
  }

  /** Empties the log into the file, and begins a new one. */
  checkpoint(): void {
    this.writer.db.pragma('wal_checkpoint(TRUNCATE)');
  }

  /** The files as a kill -9 at this moment would leave them, in a home of their own. */
  killed(): string {
    const home = temporaryHome();
    for (const name of [...storeFiles, indexOfLog]) {
      if (existsSync(join(this.home, name))) copyFileSync(join(this.home, name), join(home, name));
    }
    return home;
  }
}

/** A store of which a third is in the file and two thirds are in the log, as a kill -9 left it. */
export async function aKilledStore(): Promise<string> {
  const store = new WorkingStore();
  await store.work(5);
  store.checkpoint();
  store.keepInLog();
  await store.work(10);
  await store.marked();
  return store.killed();
}

/** Takes the log away, as somebody may who tidies up; SQLite itself would take its index too. */
export function removeLog(home: string, { index }: { readonly index: boolean }): void {
  rmSync(join(home, 'state.db-wal'));
  if (index) rmSync(join(home, indexOfLog));
}

export function markIn(home: string): HighWaterMark {
  const found = readMark(join(home, 'state.hwm'));
  if (found.kind !== 'found') throw new Error(`the mark is ${found.kind}`);
  return found.mark;
}

export function commitsIn(db: Database.Database): number {
  return db.prepare<[], number>('SELECT commits FROM runtime_epoch').pluck().get() ?? 0;
}
