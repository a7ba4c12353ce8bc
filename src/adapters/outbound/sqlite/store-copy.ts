import { chmodSync, closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import type { BackupOutcome } from '../../../core/ports/backups.ts';
import { syncFolder } from './high-water-mark.ts';
import { inspectStore } from './inspect-store.ts';
import { findDamageIn } from './verify-store.ts';

/** `damaged`: the copy did not pass its check, and was removed. */
export type CopyOutcome = BackupOutcome | { readonly kind: 'damaged'; readonly damage: string };

/** Between two steps of this size the thread looks at its other calls. */
const pagesPerStep = 4_096;

/**
 * Copies a store, which may be in use, to `target`, which must not exist. It is written under another name, made one
 * file without a log, checked and synced, and gets its name last. When it fails it leaves nothing behind.
 */
export async function copyStore(path: string, target: string): Promise<CopyOutcome> {
  if (existsSync(target)) return failed(`${target} exists already.`);
  const temporary = temporaryNameOf(target);
  try {
    createPrivateFile(temporary);
    await copyPages(path, temporary);
    const [damage] = finishCopy(temporary, 'quick_check');
    if (damage !== undefined) return { kind: 'damaged', damage };
    const facts = inspectStore(temporary, { busyTimeoutMs: 0 });
    if (facts === null) return failed(`There is no store at ${path}.`);
    const bytes = statSync(temporary).size;
    publish(temporary, target);
    const { storeId, epoch, commits } = facts;
    return { kind: 'done', backup: { path: target, bytes, storeId, epoch, commits } };
  } catch (error) {
    return failed(isTaken(error) ? `${target} exists already.` : `${target} can't be written: ${reasonOf(error)}.`);
  } finally {
    removeCopy(temporary);
  }
}

/** The name that this process gives to a copy until it is complete. */
export function temporaryNameOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.${String(process.pid)}.incomplete`);
}

export function createPrivateFile(path: string): void {
  removeCopy(path);
  closeSync(openSync(path, 'wx', 0o600));
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

/** Makes a copy one file that needs no log, and syncs it. Answers what is wrong with it. */
export function finishCopy(path: string, check: 'quick_check' | 'integrity_check'): readonly string[] {
  const db = new Database(path, { fileMustExist: true });
  try {
    db.pragma('journal_mode = DELETE');
    return findDamageIn(db, check);
  } finally {
    db.close();
    chmodSync(path, 0o600);
    syncFile(path);
  }
}

/** Removes a copy that came to nothing, as far as it goes: why it came to nothing may also be why it can't be removed. */
export function removeCopy(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) {
    try {
      rmSync(path + suffix, { force: true });
    } catch {
      // The caller says what went wrong before this.
    }
  }
}

/** Gives the copy its name. A link, unlike a rename, fails when somebody else was faster. */
function publish(temporary: string, target: string): void {
  try {
    linkSync(temporary, target);
  } catch (error) {
    if (!withoutLinks.has(codeOf(error))) throw error;
    renameSync(temporary, target);
  }
  syncFolder(dirname(target));
}

const withoutLinks: ReadonlySet<unknown> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function failed(reason: string): BackupOutcome {
  return { kind: 'failed', reason };
}

function isTaken(error: unknown): boolean {
  return codeOf(error) === 'EEXIST';
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
