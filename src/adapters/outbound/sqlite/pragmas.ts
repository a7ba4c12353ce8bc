import type Database from 'better-sqlite3';
import { StoreOpenError } from './store-open-error.ts';

export type Synchronous = 'full' | 'normal';

export interface PragmaOptions {
  readonly path: string;
  readonly synchronous: Synchronous;
  /** How long a statement waits for a lock of another program; it blocks its thread meanwhile. */
  readonly busyTimeoutMs: number;
}

const synchronousLevels: Readonly<Record<Synchronous, number>> = { normal: 1, full: 2 };

/** A connection that writes. WAL is a property of the file and comes first; the rest is of the connection. */
export function setWriterPragmas(db: Database.Database, options: PragmaOptions): void {
  requireWal(db, options.path);
  // better-sqlite3 is built with NORMAL as its default under WAL, which loses acknowledged commits at a power cut.
  set(db, options.path, 'synchronous', synchronousLevels[options.synchronous]);
  set(db, options.path, 'foreign_keys', 1);
  set(db, options.path, 'busy_timeout', options.busyTimeoutMs);
  set(db, options.path, 'wal_autocheckpoint', 1_000);
  set(db, options.path, 'journal_size_limit', 16 * 1024 * 1024);
  // The journal of savepoints: in memory, so that undoing one append of a batch needs no temporary file.
  set(db, options.path, 'temp_store', 2);
  if (process.platform === 'darwin') {
    // There fsync alone leaves data in the drive's cache: https://sqlite.org/pragma.html#pragma_fullfsync
    set(db, options.path, 'fullfsync', 1);
    set(db, options.path, 'checkpoint_fullfsync', 1);
  }
  setCommonPragmas(db, options.path);
}

/** A connection that only reads a file that the writer has opened before. */
export function setReaderPragmas(db: Database.Database, options: Omit<PragmaOptions, 'synchronous'>): void {
  set(db, options.path, 'busy_timeout', options.busyTimeoutMs);
  set(db, options.path, 'query_only', 1);
  setCommonPragmas(db, options.path);
}

function setCommonPragmas(db: Database.Database, path: string): void {
  set(db, path, 'cell_size_check', 1);
  set(db, path, 'trusted_schema', 0);
}

function requireWal(db: Database.Database, path: string): void {
  const mode = String(db.pragma('journal_mode = WAL', { simple: true }));
  if (mode !== 'wal') {
    throw new StoreOpenError(
      'wal_unavailable',
      `SQLite can't use a write-ahead log for ${path} (journal mode is "${mode}"), which usually means a network or ` +
        'shared file system. Move the home folder to a local disk.',
    );
  }
}

/** SQLite ignores what it doesn't know or can't do, so that every setting is read back. */
function set(db: Database.Database, path: string, pragma: string, value: number): void {
  db.pragma(`${pragma} = ${String(value)}`);
  const actual = Number(db.pragma(pragma, { simple: true }));
  if (actual !== value) {
    throw new StoreOpenError(
      'io',
      `SQLite refuses the setting ${pragma} = ${String(value)} for ${path} and has ${String(actual)}. ` +
        'Reinstall Holdfast with the SQLite that comes with it.',
    );
  }
}
