import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { EpochTable } from './epoch-table.ts';
import { syncFolder } from './high-water-mark.ts';
import { findDamageIn } from './verify-store.ts';

export interface StoreCopy {
  readonly bytes: number;
  readonly storeId: string;
  readonly epoch: number;
  readonly commits: number;
}

/** Why there is no copy: a sentence for an operator. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}

/** Between two steps of this size the thread looks at its other calls. */
const pagesPerStep = 4_096;

/**
 * Copies a store that is in use to `target`, which must not exist. It is written under another name, made one file
 * without a log, checked and synced, and gets its name last. Throws a `CopyError`, and then leaves nothing behind.
 */
export async function copyStore(path: string, target: string): Promise<StoreCopy> {
  const temporary = join(dirname(target), temporaryNameOf(target));
  try {
    if (existsSync(target)) throw new CopyError(`${target} exists already.`);
    createPrivateFile(temporary);
    await copyPages(path, temporary);
    const copy = finish(temporary);
    publish(temporary, target);
    return copy;
  } catch (error) {
    removeCopy(temporary);
    throw error instanceof CopyError ? error : new CopyError(`${target} can't be written: ${reasonOf(error)}.`, { cause: error });
  }
}

/** The name that a copy has until it is complete. A copy whose process died is found and replaced by the next one. */
export function temporaryNameOf(target: string): string {
  return `.${basename(target)}.incomplete`;
}

/**
 * Copies every page of the database at `path`, with what its log adds, as one snapshot. Its connection reads in one
 * transaction: else every commit of the writer would begin the copy anew.
 */
export async function copyPages(path: string, target: string): Promise<void> {
  const source = new Database(path, { readonly: true, fileMustExist: true, timeout: 1_000 });
  try {
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_schema').get(); // the snapshot is taken at the first read
    await source.backup(target, { progress: () => pagesPerStep });
  } finally {
    source.close();
  }
}

/** Turns the pages into one file that needs no log, and looks at all of them. */
function finish(path: string): StoreCopy {
  const db = new Database(path, { fileMustExist: true });
  let copy: Omit<StoreCopy, 'bytes'>;
  try {
    makeOneFile(db);
    const [damage] = findDamageIn(db, 'quick_check');
    if (damage !== undefined) throw new CopyError(`The store is damaged, so the copy is too (${damage}); it was removed.`);
    const epoch = new EpochTable(db);
    copy = { storeId: epoch.storeId(), epoch: epoch.current(), commits: epoch.commits() };
  } finally {
    db.close();
  }
  chmodSync(path, 0o600);
  syncFile(path);
  return { ...copy, bytes: statSync(path).size };
}

export function makeOneFile(db: Database.Database): void {
  db.pragma('journal_mode = DELETE');
}

/** Gives the copy its name. A link, unlike a rename, fails when somebody else was faster. */
function publish(temporary: string, target: string): void {
  try {
    linkSync(temporary, target);
    rmSync(temporary);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EEXIST') throw new CopyError(`${target} exists already.`, { cause: error });
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(String(code))) throw error;
    renameSync(temporary, target); // a file system without links
  }
  syncFolder(dirname(target));
}

export function createPrivateFile(path: string): void {
  removeCopy(path);
  closeSync(openSync(path, 'wx', 0o600));
}

export function removeCopy(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
