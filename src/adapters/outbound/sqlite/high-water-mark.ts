/*
 * The high-water mark: a small file beside the database that remembers how far the store had come, so that the next
 * start notices when acknowledged commits are gone. See docs/decisions/0017-high-water-mark.md.
 *
 * Two slots are written in turn, each in a block of the disk of its own, so that a write that is cut off leaves the
 * other slot as it was. A slot is a checksum and a line of JSON, and blanks up to its end.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { regularFileAt } from './regular-file.ts';

export interface HighWaterMark {
  readonly storeId: string;
  /** The owner's epoch. */
  readonly epoch: number;
  /** A commit that is durable, and with it every one before it. */
  readonly commits: number;
  /** A commit that was in the database file, without its log. */
  readonly checkpointed: number;
  /** When that newest commit was known. */
  readonly at: string;
  /**
   * - `closed`: the store was closed in order after it.
   * - `open`: an owner has the store, or died with it.
   * - `suspect`: damage was met. The store must pass a check before anything is written to it again.
   */
  readonly state: 'open' | 'closed' | 'suspect';
}

export type FoundMark =
  | { readonly kind: 'found'; readonly mark: HighWaterMark }
  | { readonly kind: 'absent' }
  /** Neither slot makes sense. */
  | { readonly kind: 'unreadable' };

/** The block size of most disks and file systems. */
const slotBytes = 4_096;

export function markPath(home: string): string {
  return join(home, 'state.hwm');
}

export function readMark(path: string): FoundMark {
  if (regularFileAt(path) === null) return { kind: 'absent' };
  const newest = newestSlot(readFileSync(path));
  return newest === null ? { kind: 'unreadable' } : { kind: 'found', mark: newest.mark };
}

/** The file of a store's mark, which this process writes alone. */
export class MarkFile {
  readonly #path: string;
  #writes = 0;
  #mark: HighWaterMark;

  private constructor(path: string, mark: HighWaterMark, writes: number) {
    this.#path = path;
    this.#mark = mark;
    this.#writes = writes;
  }

  /** Makes the file, or replaces the one that is there: at once as a whole. */
  static create(path: string, mark: HighWaterMark): MarkFile {
    const file = new MarkFile(path, mark, 1);
    file.#replace();
    return file;
  }

  /** Goes on with a file that `readMark` has found. */
  static continue(path: string): MarkFile {
    const newest = newestSlot(readFileSync(path));
    if (newest === null) throw new Error(`${path} holds no mark`);
    return new MarkFile(path, newest.mark, newest.write);
  }

  /** As it was written last, or is being written. */
  get mark(): HighWaterMark {
    return this.#mark;
  }

  /** Writes the next slot and syncs it, in the background. One call at a time, but `writeNow` may come in between. */
  async write(mark: HighWaterMark): Promise<void> {
    const { slot, position } = this.#next(mark);
    try {
      const file = await open(this.#path, 'r+');
      try {
        await file.write(slot, 0, slot.length, position);
        await file.datasync();
      } finally {
        await file.close();
      }
    } catch (error) {
      if (!isGone(error)) throw error;
      this.#replace();
    }
  }

  /** The same at once. A write in the background that is under way does no harm: it goes to the other slot. */
  writeNow(mark: HighWaterMark): void {
    const { slot, position } = this.#next(mark);
    try {
      const file = openSync(this.#path, 'r+');
      try {
        writeSync(file, slot, 0, slot.length, position);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      if (!isGone(error)) throw error;
      this.#replace();
    }
  }

  #next(mark: HighWaterMark): { readonly slot: Buffer; readonly position: number } {
    this.#writes += 1;
    this.#mark = mark;
    return { slot: encodeSlot(this.#writes, mark), position: (this.#writes % 2) * slotBytes };
  }

  #replace(): void {
    const temporary = `${this.#path}.new`;
    const file = openSync(temporary, 'w', 0o600);
    try {
      const slot = encodeSlot(this.#writes, this.#mark);
      for (const position of [0, slotBytes]) writeSync(file, slot, 0, slot.length, position);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, this.#path);
    syncFolder(dirname(this.#path));
  }
}

/** Makes what was created, renamed or removed in a folder survive a power cut. Some platforms can't and needn't. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

interface Slot {
  /** Counts the writes of the file: the highest is the newest. */
  readonly write: number;
  readonly mark: HighWaterMark;
}

function newestSlot(content: Buffer): Slot | null {
  const slots = [0, slotBytes].flatMap((start) => decodeSlot(content.subarray(start, start + slotBytes)) ?? []);
  return slots.sort((a, b) => b.write - a.write)[0] ?? null;
}

function encodeSlot(write: number, mark: HighWaterMark): Buffer {
  const { storeId: store_id, epoch, commits, checkpointed, at, state } = mark;
  const text = JSON.stringify({ write, store_id, epoch, commits, checkpointed, at, state });
  const slot = Buffer.alloc(slotBytes, ' ');
  slot.write(`${checksumOf(text)} ${text}\n`);
  slot.write('\n', slotBytes - 1);
  return slot;
}

function decodeSlot(slot: Buffer): Slot | null {
  const [, checksum, text] = /^([0-9a-f]{8}) (.*)\n/.exec(slot.toString('utf8')) ?? [];
  if (text === undefined || checksum !== checksumOf(text)) return null;
  // Whoever wrote the checksum wrote these fields.
  const {
    write,
    store_id: storeId,
    ...mark
  } = JSON.parse(text) as Omit<HighWaterMark, 'storeId'> & {
    readonly write: number;
    readonly store_id: string;
  };
  return { write, mark: { storeId, ...mark } };
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
