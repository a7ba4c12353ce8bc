import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { EpochTable } from './epoch-table.ts';
import { MarkFile, markPath, readMark } from './high-water-mark.ts';
import { closeBesideLog } from './hold-log.ts';
import { prepareHomeFolder } from './home-folder.ts';
import { inspectStore } from './inspect-store.ts';
import { migrate } from './migrations.ts';
import { setReaderPragmas, setWriterPragmas } from './pragmas.ts';
import type { Synchronous } from './pragmas.ts';
import { sqliteCodeOf } from './storage-errors.ts';
import { StoreOpenError } from './store-open-error.ts';
import type { StoreOpenErrorKind } from './store-open-error.ts';
import { checkLog, checkTail } from './tail-check.ts';
import type { StoreFacts, TailVerdict } from './tail-check.ts';
import { findDamage } from './verify-store.ts';
import { logStateOf } from './write-ahead-log.ts';
import type { LogState } from './write-ahead-log.ts';

export interface OpenStoreOptions {
  /** The folder that holds `state.db`. */
  readonly home: string;
  /** The id that the store gets if it is created now, or if nobody can say what is missing from it. */
  readonly newStoreId: string;
  readonly synchronous?: Synchronous;
  readonly busyTimeoutMs?: number;
  readonly allowUnsafeFilesystem?: boolean;
}

export interface OpenedStore {
  readonly db: Database.Database;
  readonly path: string;
  readonly storeId: string;
  readonly mark: MarkFile;
  readonly opening: Opening;
}

/** How a store was found. */
export interface Opening {
  /**
   * How its last owner left it. `unclean`: it died, so that a look for damage is due, which takes time. `none`: it is
   * new, or it has just been looked at.
   */
  readonly lastStop: 'clean' | 'unclean' | 'none';
  /** What an operator should know of. */
  readonly warnings: readonly string[];
}

/**
 * Opens the store of a home folder for writing, and creates it where there is none. Everything that can be wrong with
 * it is a `StoreOpenError`, found in constant time, except after damage was met: then all of it is checked first. What
 * is damaged or incomplete stays as it is: nothing is overwritten or deleted.
 */
export function openStore(options: OpenStoreOptions): OpenedStore {
  const { home, newStoreId, synchronous = 'full', busyTimeoutMs = 0, allowUnsafeFilesystem = false } = options;
  prepareHomeFolder(home, { allowUnsafeFilesystem });
  const path = storePath(home);
  return openingErrors(path, () => {
    const judged = judgeStore(home, { busyTimeoutMs });
    createFile(path);
    const db = new Database(path, { timeout: busyTimeoutMs });
    try {
      setWriterPragmas(db, { path, synchronous, busyTimeoutMs });
      migrate(db);
      const epoch = new EpochTable(db);
      epoch.create(newStoreId);
      if (judged.verdict.kind === 'unmarked') {
        epoch.renew(newStoreId, epoch.current());
        db.pragma('wal_checkpoint(PASSIVE)'); // the mark may not know of what a power cut could take away
      }
      return {
        db,
        path,
        storeId: epoch.storeId(),
        mark: beginMark(home, epoch, judged),
        opening: openingOf(home, judged.verdict),
      };
    } catch (error) {
      closeBesideLog(db, path);
      throw error;
    }
  });
}

/** What is in a home folder, if it may be served. Changes nothing but the modes of files that others may read. */
export function judgeStore(
  home: string,
  { busyTimeoutMs }: { readonly busyTimeoutMs: number },
): { readonly facts: StoreFacts | null; readonly log: LogState; readonly verdict: TailVerdict } {
  const path = storePath(home);
  const file = checkFiles(home);
  const found = readMark(markPath(home));
  const log = logStateOf(path);
  checkLog(path, found, log);
  const facts = file === null || file.size === 0 ? null : inspectStore(path, { busyTimeoutMs });
  const verdict = checkTail(path, { facts, found, log });
  const isDoubtful = verdict.kind === 'unproven' || (verdict.kind === 'intact' && verdict.mark.state === 'suspect');
  if (isDoubtful) requireUndamaged(path);
  return { facts, log, verdict };
}

/** Looks at all of a store. */
export function requireUndamaged(path: string): void {
  const [damage] = findDamage(path, 'integrity_check');
  if (damage === undefined) return;
  throw new StoreOpenError(
    'damaged',
    `${path} is damaged: ${damage}. Nothing was changed. Restore a backup with \`holdfast restore FILE\`.`,
  );
}

/** Before anything is written: whoever dies from now on has not closed the store. */
function beginMark(home: string, epoch: EpochTable, { facts, log, verdict }: ReturnType<typeof judgeStore>): MarkFile {
  const path = markPath(home);
  const now = {
    storeId: epoch.storeId(),
    epoch: epoch.current(),
    at: new Date().toISOString(),
    state: 'open',
  } as const;
  if (verdict.kind === 'new' || verdict.kind === 'unmarked') {
    return MarkFile.create(path, { ...now, commits: epoch.commits(), checkpointed: facts?.commitsInFile ?? 0 });
  }
  const file = MarkFile.continue(path);
  // Without a log all that the store has is in the file, and on the disk.
  const all = log === 'present' ? verdict.mark : { commits: epoch.commits(), checkpointed: epoch.commits() };
  const { commits, checkpointed } = all;
  file.writeNow({ ...now, at: verdict.mark.at, commits, checkpointed });
  return file;
}

function openingOf(home: string, verdict: TailVerdict): Opening {
  switch (verdict.kind) {
    case 'new':
      return { lastStop: 'none', warnings: [] };
    case 'intact': {
      const lastStop = { closed: 'clean', open: 'unclean', suspect: 'none' } as const;
      return { lastStop: lastStop[verdict.mark.state], warnings: [] };
    }
    case 'unproven':
      return {
        lastStop: 'none',
        warnings: [
          'The last owner of the store died, and its log has gone since, as it does when another program has opened the ' +
            'database. Everything was checked, and nothing is missing.',
        ],
      };
    case 'unmarked': {
      const what = verdict.unreadable ? 'could not be read' : 'was missing';
      return {
        lastStop: 'unclean',
        warnings: [
          `${markPath(home)} ${what}: nobody can tell whether acknowledged work is missing from the store. It was made anew, ` +
            'and the store has a new id, so that clients take fresh snapshots.',
        ],
      };
    }
  }
}

/** A second connection, for reads only, to a store that `openStore` has opened. */
export function openStoreForReading(options: {
  readonly home: string;
  readonly busyTimeoutMs?: number;
}): Database.Database {
  const path = storePath(options.home);
  const busyTimeoutMs = options.busyTimeoutMs ?? 0;
  return openingErrors(path, () => {
    const db = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    try {
      setReaderPragmas(db, { path, busyTimeoutMs });
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

export function storePath(home: string): string {
  return join(home, 'state.db');
}

/** Looks at the files before SQLite does. Null when there is no database. */
function checkFiles(home: string): Stats | null {
  const path = storePath(home);
  const file = statOf(path);
  if (file !== null && !file.isFile()) {
    throw new StoreOpenError(
      'not_a_file',
      `${path} is not a file. Move it away, or choose another folder with --home.`,
    );
  }
  // SQLite deletes a log that lies beside an empty database; but a log with content means that one was lost.
  if ((file === null || file.size === 0) && (statOf(`${path}-wal`)?.size ?? 0) > 0) {
    throw new StoreOpenError(
      'damaged',
      `${path} is ${file === null ? 'missing' : 'empty'}, but its log ${path}-wal has content. Nothing was changed. ` +
        'Put the file back beside its log, or restore a backup with `holdfast restore FILE`.',
    );
  }
  for (const name of [path, `${path}-wal`, `${path}-shm`, markPath(home)]) {
    const existing = statOf(name);
    if (existing !== null && (existing.mode & 0o077) !== 0) chmodSync(name, existing.mode & 0o700);
  }
  return file;
}

/**
 * Nobody but its user may read a file of the store. SQLite gives the write-ahead log and its index the mode of the
 * database, so that a new file gets its mode before SQLite sees it. An existing file is opened by SQLite alone: closing
 * another handle would drop the locks that this process has on it.
 */
function createFile(path: string): void {
  if (statOf(path) === null) closeSync(openSync(path, 'wx', 0o600));
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

/** What an error of SQLite or of the file system means while a store is being opened, and what to do about it. */
const openErrors: readonly (readonly [codes: RegExp, kind: StoreOpenErrorKind, advice: string])[] = [
  [
    /^SQLITE_NOTADB/,
    'not_a_database',
    'is no database. Nothing was changed. Restore a backup with `holdfast restore FILE`, or move the file away to start empty.',
  ],
  [
    /^SQLITE_CORRUPT/,
    'damaged',
    'is damaged. Nothing was changed. Keep a copy of it, then restore a backup with `holdfast restore FILE`.',
  ],
  [/^SQLITE_(BUSY|LOCKED)/, 'busy', 'is in use by another program. Close that program and try again.'],
  [
    /^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/,
    'unwritable',
    'may not be written. Give this user the right to write the file and its folder, or choose another with --home.',
  ],
];

function openingErrors<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw openError(path, error);
  }
}

/** What an error of SQLite or of the file system means for whoever wants to open the database at `path`. */
export function openError(path: string, error: unknown): StoreOpenError {
  if (error instanceof StoreOpenError) return error;
  const code = sqliteCodeOf(error);
  const reason = error instanceof Error ? error.message : String(error);
  const [, kind, advice] = openErrors.find(([codes]) => codes.test(code)) ?? ['', 'io' as const, "can't be opened."];
  return new StoreOpenError(kind, `${path} ${advice} (${code === '' ? reason : `${code}: ${reason}`})`, {
    cause: error,
  });
}
