import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';

/**
 * Names the present generation of a write-ahead log. SQLite begins a new one, with other salts, when everything of the
 * last is in the database file and synced: https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
export function readWalGeneration(walPath: string): string {
  const salts = Buffer.alloc(8);
  const saltsAt = 16;
  if (walBytes(walPath) < saltsAt + salts.length) return 'none';
  // The log itself is never locked, so that opening and closing it does no harm.
  const file = openSync(walPath, 'r');
  try {
    return readSync(file, salts, 0, salts.length, saltsAt) < salts.length ? 'none' : salts.toString('hex');
  } finally {
    closeSync(file);
  }
}

/**
 * - `present`: it has content.
 * - `empty`: all of it is in the file, as far as SQLite had anything to do with it.
 * - `removed`: it is gone, and its index is not. SQLite removes both or none.
 */
export type LogState = 'present' | 'empty' | 'removed';

/** How the log of a database is, before anything opens it. */
export function logStateOf(path: string): LogState {
  if (walBytes(`${path}-wal`) > 0) return 'present';
  return !existsSync(`${path}-wal`) && existsSync(`${path}-shm`) ? 'removed' : 'empty';
}

/** The size of the log; 0 when there is none. */
export function walBytes(walPath: string): number {
  return statSync(walPath, { throwIfNoEntry: false })?.size ?? 0;
}
