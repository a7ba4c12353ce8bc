import { closeSync, openSync, readSync, statSync } from 'node:fs';

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

/** The size of the log; 0 when there is none. */
export function walBytes(walPath: string): number {
  return statSync(walPath, { throwIfNoEntry: false })?.size ?? 0;
}
