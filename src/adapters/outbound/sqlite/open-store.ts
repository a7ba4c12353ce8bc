import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { EpochTable } from './epoch-table.ts';
import { prepareHomeFolder } from './home-folder.ts';
import { applicationId, migrate, refuseNewerSchema } from './migrations.ts';
import { setReaderPragmas, setWriterPragmas } from './pragmas.ts';
import type { Synchronous } from './pragmas.ts';
import { sqliteCodeOf } from './storage-errors.ts';
import { StoreOpenError } from './store-open-error.ts';
import type { StoreOpenErrorKind } from './store-open-error.ts';

export interface OpenStoreOptions {
  /** The folder that holds `state.db`. */
  readonly home: string;
  /** The id that the store gets if it is created now. */
  readonly newStoreId: string;
  readonly synchronous?: Synchronous;
  readonly busyTimeoutMs?: number;
  readonly allowUnsafeFilesystem?: boolean;
}

export interface OpenedStore {
  readonly db: Database.Database;
  readonly path: string;
  readonly storeId: string;
}

/**
 * Opens the store of a home folder for writing, and creates it where there is none. Everything that can be wrong with
 * it is a `StoreOpenError`, found in constant time. What is damaged stays as it is: nothing is overwritten or deleted.
 */
export function openStore(options: OpenStoreOptions): OpenedStore {
  const { home, newStoreId, synchronous = 'full', busyTimeoutMs = 0, allowUnsafeFilesystem = false } = options;
  prepareHomeFolder(home, { allowUnsafeFilesystem });
  const path = storePath(home);
  return openingErrors(path, () => {
    createOrCheckFile(path);
    const db = new Database(path, { timeout: busyTimeoutMs });
    try {
      requireOwnDatabase(db, path);
      refuseNewerSchema(db, path);
      setWriterPragmas(db, { path, synchronous, busyTimeoutMs });
      migrate(db);
      const epoch = new EpochTable(db);
      epoch.create(newStoreId);
      return { db, path, storeId: epoch.storeId() };
    } catch (error) {
      db.close();
      throw error;
    }
  });
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

/**
 * Nobody but its user may read a file of the store. SQLite gives the write-ahead log and its index the mode of the
 * database, so that a new file gets its mode before SQLite sees it. An existing file is opened by SQLite alone: closing
 * another handle would drop the locks that this process has on it.
 */
function createOrCheckFile(path: string): void {
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
  if (file === null) closeSync(openSync(path, 'wx', 0o600));
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    const existing = statOf(name);
    if (existing !== null && (existing.mode & 0o077) !== 0) chmodSync(name, existing.mode & 0o700);
  }
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

/** A fresh file has neither tables nor an application id; every other one must be ours. */
function requireOwnDatabase(db: Database.Database, path: string): void {
  const id = Number(db.pragma('application_id', { simple: true }));
  const tables = Number(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get());
  if (id !== applicationId && (id !== 0 || tables > 0)) {
    throw new StoreOpenError(
      'foreign',
      `${path} is the database of another program. Nothing was changed. Move it away, or choose another folder with --home.`,
    );
  }
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
    if (error instanceof StoreOpenError) throw error;
    const code = sqliteCodeOf(error);
    const reason = error instanceof Error ? error.message : String(error);
    const [, kind, advice] = openErrors.find(([codes]) => codes.test(code)) ?? ['', 'io' as const, "can't be opened."];
    throw new StoreOpenError(kind, `${path} ${advice} (${code === '' ? reason : `${code}: ${reason}`})`, {
      cause: error,
    });
  }
}
