/*
 * What is done beside the appends, about a second after a commit: the high-water mark is raised and the log kept short.
 *
 * U1: the mark never knows of a commit that a power cut could take away, and never of what the file alone doesn't have.
 * U2: an append waits for none of it, except while a checkpoint runs: when nothing else is to be done, or when the log
 * has outgrown its limit.
 * U3: after a failure that says that the disk can't be trusted nothing more is written, and every later append fails.
 */
import type Database from 'better-sqlite3';
import { StorageError } from '../../../core/ports/ledger.ts';
import type { HighWaterMark, MarkFile } from './high-water-mark.ts';
import type { Synchronous } from './pragmas.ts';
import { storageErrorFrom } from './storage-errors.ts';
import { readWalGeneration, walBytes } from './write-ahead-log.ts';

export interface StoreUpkeepOptions {
  readonly db: Database.Database;
  readonly path: string;
  readonly mark: MarkFile;
  readonly synchronous: Synchronous;
  readonly intervalMs?: number;
  readonly maxWalBytes?: number;
}

const standardIntervalMs = 1_000;
/** A log that is longer is emptied, although that takes longer than writing on: readers may have kept it for a while. */
const standardMaxWalBytes = 64 * 1024 * 1024;

interface CheckpointEnd {
  readonly busy: number;
  /** Pages in the log, and those of them that are in the file. */
  readonly log: number;
  readonly checkpointed: number;
}

/** How far the store had come at a moment, and which log it wrote then. */
interface Sight {
  readonly epoch: number;
  readonly commits: number;
  readonly atMs: number;
}

export class StoreUpkeep {
  readonly #options: StoreUpkeepOptions;
  readonly #walPath: string;
  #newest: Sight;
  /** What was seen at the last round, with the generation of the log at that moment. */
  #seen: { readonly commits: number; readonly generation: string };
  #timer: NodeJS.Timeout | null = null;
  #failure: StorageError | null = null;
  #stopped = false;

  constructor(options: StoreUpkeepOptions, start: { readonly epoch: number; readonly commits: number }) {
    this.#options = options;
    this.#walPath = `${options.path}-wal`;
    this.#newest = { ...start, atMs: Date.now() };
    this.#seen = { commits: start.commits, generation: readWalGeneration(this.#walPath) };
  }

  /** What went wrong in the background (U3). */
  get failure(): StorageError | null {
    return this.#failure;
  }

  assertSound(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  /** Takes note of a commit. */
  committed(commits: number, epoch: number = this.#newest.epoch): void {
    if (commits === this.#newest.commits) return;
    this.#newest = { epoch, commits, atMs: Date.now() };
    this.#schedule();
  }

  /** Marks the store as one that must be checked before it is written to again. */
  suspect(): void {
    this.stop();
    this.#options.mark.writeNow({ ...this.#options.mark.mark, state: 'suspect' });
  }

  /** Nothing is written from now on. */
  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** The last mark, of a store that was closed in order. `open` when a look for damage is due all the same. */
  closed(state: 'closed' | 'open'): void {
    this.#options.mark.writeNow({ ...this.#options.mark.mark, ...this.#present(), state });
  }

  /**
   * Brings the log into the file and leaves it empty, as far as no reader is in the way. That all is in the file is noted
   * before the log is emptied: who finds it empty and the note missing knows that somebody else was at work (U1).
   */
  emptyLog(): void {
    const [end] = this.#options.db.pragma('wal_checkpoint(PASSIVE)') as readonly CheckpointEnd[];
    if (end === undefined || end.busy !== 0 || end.log !== end.checkpointed) return;
    const { commits } = this.#newest;
    this.#options.mark.writeNow({ ...this.#options.mark.mark, ...this.#present(), checkpointed: commits });
    this.#options.db.pragma('wal_checkpoint(TRUNCATE)');
  }

  #schedule(): void {
    if (this.#stopped || this.#timer !== null) return;
    this.#timer = setTimeout(() => void this.#round(), this.#options.intervalMs ?? standardIntervalMs).unref();
  }

  async #round(): Promise<void> {
    try {
      const sight = this.#newest;
      if (this.#options.synchronous === 'normal') this.#bringIn(); // it syncs the log, which commits don't (U1)
      await this.#options.mark.write({ ...this.#options.mark.mark, ...this.#present() });
      if (this.#stopped) return;
      const idle = this.#newest === sight;
      if (walBytes(this.#walPath) > (this.#options.maxWalBytes ?? standardMaxWalBytes)) this.emptyLog();
      else if (idle) this.#bringIn();
      this.#timer = null;
      if (!idle) this.#schedule();
    } catch (error) {
      this.#timer = null;
      this.#failed(error);
    }
  }

  /** What the mark is to say of this moment. It looks at the log in the same moment. */
  #present(): Pick<HighWaterMark, 'epoch' | 'commits' | 'checkpointed' | 'at'> {
    const { epoch, commits, atMs } = this.#newest;
    const generation = readWalGeneration(this.#walPath);
    // A new log is begun only when all of the last one is in the file and synced.
    const { checkpointed } = this.#options.mark.mark;
    const proven = generation === this.#seen.generation ? checkpointed : Math.max(checkpointed, this.#seen.commits);
    this.#seen = { commits, generation };
    return { epoch, commits, checkpointed: proven, at: new Date(atMs).toISOString() };
  }

  #bringIn(): void {
    this.#options.db.pragma('wal_checkpoint(PASSIVE)');
  }

  /** A full disk or a busy database is tried again; anything else is a reason not to go on (U3). */
  #failed(error: unknown): void {
    const failure = upkeepErrorFrom(error);
    if (!failure.outcomeUnknown) {
      this.#schedule();
      return;
    }
    this.#failure = failure;
    this.stop();
  }
}

/** What an error of SQLite or of the file system means for the storage. */
export function upkeepErrorFrom(error: unknown): StorageError {
  const found = storageErrorFrom(error);
  if (found !== null) return found;
  const isFull = error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
  const reason = error instanceof Error ? error.message : String(error);
  return new StorageError(isFull ? 'full' : 'io', `The high-water mark can't be written: ${reason}`, { cause: error });
}
