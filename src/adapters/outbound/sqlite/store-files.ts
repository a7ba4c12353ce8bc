import { accessSync, chmodSync, closeSync, constants, openSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { markPath } from './high-water-mark.ts';
import { regularFileAt } from './regular-file.ts';
import { StoreOpenError } from './store-open-error.ts';

export function storePath(home: string): string {
  return join(home, 'state.db');
}

/**
 * Looks at the files of a store before SQLite does, whose own words name no file but the database. Answers the
 * database, or null when there is none. Changes nothing but modes.
 */
export function checkFiles(home: string, use: 'read' | 'write'): Stats | null {
  const path = storePath(home);
  const file = regularFileAt(path);
  const log = regularFileAt(`${path}-wal`);
  const index = regularFileAt(`${path}-shm`);
  const mark = regularFileAt(markPath(home));
  // SQLite deletes a log that lies beside an empty database; but a log with content means that one was lost.
  if ((file === null || file.size === 0) && (log?.size ?? 0) > 0) {
    throw new StoreOpenError(
      'damaged',
      `${path} is ${file === null ? 'missing' : 'empty'}, but its log ${path}-wal has content. Nothing was changed. ` +
        'Put the file back beside its log, or restore a backup with `holdfast restore FILE`.',
    );
  }
  closeToOthers(path, file);
  closeToOthers(markPath(home), mark);
  if (file !== null) requireAccess(path, use);
  if (mark !== null) requireAccess(markPath(home), use);
  for (const [name, stats] of [
    [`${path}-wal`, log],
    [`${path}-shm`, index],
  ] as const) {
    if (stats === null) continue;
    likeTheDatabase(name, stats, file);
    requireAccess(name, use);
  }
  return file;
}

/**
 * Nobody but its user may read a file of the store. SQLite gives the write-ahead log and its index the mode of the
 * database, so that a new file gets its mode before SQLite sees it. An existing file is opened by SQLite alone: closing
 * another handle would drop the locks that this process has on it.
 */
export function createFile(path: string): void {
  if (regularFileAt(path) === null) closeSync(openSync(path, 'wx', 0o600));
}

function closeToOthers(path: string, stats: Stats | null): void {
  if (stats !== null && (stats.mode & 0o077) !== 0) chmodSync(path, stats.mode & 0o700);
}

/** They keep the mode that the database had when they were made, also when that was one that nobody could write. */
function likeTheDatabase(path: string, stats: Stats, database: Stats | null): void {
  const mode = (database ?? stats).mode & 0o700;
  if ((stats.mode & 0o777) !== mode) chmodSync(path, mode);
}

/** By the kernel's own word: it also knows of a file system that is read-only. */
function requireAccess(path: string, use: 'read' | 'write'): void {
  accessSync(path, use === 'read' ? constants.R_OK : constants.R_OK | constants.W_OK);
}
