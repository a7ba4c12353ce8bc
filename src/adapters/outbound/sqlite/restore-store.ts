/*
 * The ways back from damage, for a home folder that this process owns and that no gateway uses.
 *
 * R1: nothing is deleted: what is replaced is moved to a folder of its own, what is changed is copied there.
 * R2: what is put in place was checked as a whole before anything was touched.
 * R3: the store gets a new id, and an epoch that is higher than any that this home has had.
 * R4: a process that dies in the middle leaves a home that a start refuses, and that the same call puts right: the mark
 *     of the new store is written first, and nothing else than the new store fits it.
 */
import { copyFileSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { EpochTable } from './epoch-table.ts';
import { MarkFile, markPath, readMark, syncFolder } from './high-water-mark.ts';
import { prepareHomeFolder } from './home-folder.ts';
import { inspectStore } from './inspect-store.ts';
import { migrate } from './migrations.ts';
import { backupError, openError } from './open-errors.ts';
import { requireUndamaged } from './open-store.ts';
import { setWriterPragmas } from './pragmas.ts';
import { regularFileAt } from './regular-file.ts';
import { isFull } from './storage-errors.ts';
import { copyPages, createPrivateFile, finishCopy, removeCopy } from './store-copy.ts';
import { storePath } from './store-files.ts';
import { StoreOpenError } from './store-open-error.ts';
import type { StoreFacts } from './tail-check.ts';

interface RestoredStore {
  readonly storeId: string;
  readonly epoch: number;
  readonly commits: number;
  readonly admissions: Readonly<Record<'queued' | 'started' | 'unknown' | 'terminal', number>>;
}

export interface RestoreOptions {
  readonly home: string;
  readonly newStoreId: string;
  /** Now. */
  readonly at: string;
}

export interface Restored {
  /** Null: there is none, and the next start makes one. */
  readonly store: RestoredStore | null;
  /** What the mark knew of and the store doesn't have; null where that can't be told, or where nothing is missing. */
  readonly missing: { readonly after: number; readonly until: number; readonly at: string } | null;
  /** Where the files are that were there before; null when there were none. */
  readonly keptIn: string | null;
}

/** Puts a backup in the place of the store. Throws a `StoreOpenError` when it is no good; then nothing was touched. */
export async function restoreBackup(backup: string, { home, newStoreId, at }: RestoreOptions): Promise<Restored> {
  prepareHomeFolder(home, { allowUnsafeFilesystem: true });
  const path = storePath(home);
  const copy = join(home, '.state.db.restoring');
  try {
    const missing = missingFrom(await copyBackup(backup, { path, copy }), home);
    const store = makeAnother(copy, { newStoreId, above: highestEpoch(home) });
    const keptIn = keepAside(home, at, ['-wal', '-shm', ''], renameSync, () => writeMark(home, store, at));
    renameSync(copy, path);
    syncFolder(home);
    return { store, missing, keptIn };
  } catch (error) {
    throw openError(path, error);
  } finally {
    removeCopy(copy);
  }
}

/** Keeps the store as it is, whatever is missing, if it is whole in itself. Throws a `StoreOpenError` when it is not. */
export function acceptLoss({ home, newStoreId, at }: RestoreOptions): Restored {
  prepareHomeFolder(home, { allowUnsafeFilesystem: true });
  const path = storePath(home);
  try {
    const facts = inspect(path);
    const missing = missingFrom(facts, home);
    if (facts === null) return { store: null, missing, keptIn: forgetAll(home, at) };
    requireUndamaged(path);
    // What the log adds goes into the file now. What it holds beyond that, behind the damage, is for a later look.
    const keptIn = keepAside(home, at, ['-wal'], copyFileSync, () => undefined);
    const store = makeAnother(path, { newStoreId, above: highestEpoch(home) });
    writeMark(home, store, at);
    return { store, missing, keptIn };
  } catch (error) {
    throw openError(path, error);
  }
}

/** A copy with everything that a log beside the backup adds, checked as a whole (R2). */
async function copyBackup(
  backup: string,
  { path, copy }: { readonly path: string; readonly copy: string },
): Promise<StoreFacts> {
  const facts = inspectBackup(backup, path);
  createPrivateFile(copy);
  const [damage] = await copyAndCheck(backup, copy);
  if (damage !== undefined)
    throw new StoreOpenError('damaged', `${backup} is damaged: ${damage}. Nothing was changed.`);
  return facts;
}

function inspectBackup(backup: string, path: string): StoreFacts {
  try {
    const file = statSync(backup, { throwIfNoEntry: false });
    if (file?.isFile() !== true) {
      throw new StoreOpenError(
        'no_backup',
        `${backup} ${file === undefined ? "isn't there" : 'is not a file'}. Nothing was changed.`,
      );
    }
    if (existsSync(path) && realpathSync(backup) === realpathSync(path)) {
      throw new StoreOpenError(
        'no_backup',
        `${backup} is the store itself. To go on with it as it is, run \`holdfast restore --accept-loss\`.`,
      );
    }
    const facts = inspect(backup);
    if (facts === null) throw new StoreOpenError('no_backup', `${backup} holds no store. Nothing was changed.`);
    return facts;
  } catch (error) {
    if (error instanceof StoreOpenError && error.kind === 'foreign') {
      const message = `${backup} is the database of another program, and so no backup. Nothing was changed.`;
      throw new StoreOpenError('foreign', message, { cause: error });
    }
    throw backupError(backup, error);
  }
}

async function copyAndCheck(backup: string, copy: string): Promise<readonly string[]> {
  try {
    await copyPages(backup, copy);
    return finishCopy(copy, 'integrity_check');
  } catch (error) {
    throw isFull(error) ? openError(copy, error) : backupError(backup, error);
  }
}

function inspect(path: string): ReturnType<typeof inspectStore> {
  const bytes = regularFileAt(path)?.size ?? 0;
  return bytes === 0 ? null : inspectStore(path, { busyTimeoutMs: 0 });
}

/** As far as the mark is of the same store. */
function missingFrom(facts: StoreFacts | null, home: string): Restored['missing'] {
  const found = readMark(markPath(home));
  if (found.kind !== 'found' || (facts !== null && facts.storeId !== found.mark.storeId)) return null;
  const { commits: until, at } = found.mark;
  const after = facts?.commits ?? 0;
  return after < until ? { after, until, at } : null;
}

/** Makes another store of it (R3), and says what is in it. */
function makeAnother(
  path: string,
  { newStoreId, above }: { readonly newStoreId: string; readonly above: number },
): RestoredStore {
  const db = new Database(path, { fileMustExist: true });
  try {
    setWriterPragmas(db, { path, synchronous: 'full', busyTimeoutMs: 0 });
    migrate(db);
    const row = new EpochTable(db);
    row.renew(newStoreId, Math.max(above, row.current()) + 1);
    return { storeId: newStoreId, epoch: row.current(), commits: row.commits(), admissions: countAdmissions(db) };
  } finally {
    db.close();
  }
}

function countAdmissions(db: Database.Database): RestoredStore['admissions'] {
  const sql = 'SELECT status, count(*) AS count FROM session_admissions GROUP BY status';
  const rows = db.prepare<[], { readonly status: string; readonly count: number }>(sql).all();
  const counts = Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  return { queued: 0, started: 0, unknown: 0, terminal: 0, ...counts };
}

/** As far as it can be seen: the files may be damaged. */
function highestEpoch(home: string): number {
  const found = readMark(markPath(home));
  const marked = found.kind === 'found' ? found.mark.epoch : 0;
  try {
    return Math.max(marked, inspect(storePath(home))?.epoch ?? 0);
  } catch {
    return marked;
  }
}

function writeMark(home: string, { storeId, epoch, commits }: RestoredStore, at: string): void {
  MarkFile.create(markPath(home), { storeId, epoch, commits, checkpointed: commits, at, state: 'closed' });
}

/**
 * Takes files of the store to a folder of their own, with a copy of the mark; `between` runs when that copy is made.
 * Answers the folder, or null when there was nothing to keep.
 */
function keepAside(
  home: string,
  at: string,
  suffixes: readonly string[],
  take: (from: string, to: string) => void,
  between: () => void,
): string | null {
  const files = suffixes.map((suffix) => storePath(home) + suffix).filter((file) => existsSync(file));
  const marks = [markPath(home)].filter((file) => existsSync(file));
  if (files.length + marks.length === 0) {
    between();
    return null;
  }
  const folder = makeFolder(home, at);
  const into = (file: string): string => join(folder, basename(file));
  for (const mark of marks) copyFileSync(mark, into(mark));
  between();
  for (const file of files) take(file, into(file));
  syncFolder(folder);
  syncFolder(home);
  return folder;
}

/** Without a store, a log and a mark the next start begins an empty store. */
function forgetAll(home: string, at: string): string | null {
  return keepAside(home, at, ['-wal', '-shm', ''], renameSync, () => rmSync(markPath(home), { force: true }));
}

function makeFolder(home: string, at: string): string {
  const name = join(home, `damaged-${at.replace(/[:.]/g, '-')}`);
  for (let number = 1; ; number += 1) {
    const folder = number === 1 ? name : `${name}-${String(number)}`;
    if (existsSync(folder)) continue;
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }
}
