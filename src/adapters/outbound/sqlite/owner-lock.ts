import { accessSync, chmodSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { prepareHomeFolder } from './home-folder.ts';
import { StoreOpenError } from './store-open-error.ts';
import { isFull, sqliteCodeOf } from './storage-errors.ts';

export type OwnerLock = { readonly kind: 'held'; release(): void } | { readonly kind: 'taken' };

/**
 * Makes this process the only owner of a home folder, until it releases the lock or dies: the kernel frees it at any
 * death, so that there is nothing stale to clean up. It answers at once.
 *
 * The lock is an exclusive transaction on a database of its own, which is never committed: the file stays empty.
 * Nothing else in this process may ever open that file by any means: POSIX drops all of a process's locks on a file
 * when it closes any handle to it.
 */
export function acquireOwnerLock(home: string, options: { readonly allowUnsafeFilesystem?: boolean } = {}): OwnerLock {
  prepareHomeFolder(home, { allowUnsafeFilesystem: options.allowUnsafeFilesystem ?? false });
  const path = join(home, 'gateway.lock');
  let db: Database.Database | undefined;
  try {
    requireWritable(path);
    db = new Database(path, { timeout: 0 });
    // A journal on the disk would need room there, and a full disk is when a copy of the store is wanted most.
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
    chmodSync(path, 0o600);
    return { kind: 'held', release: () => void db?.close() };
  } catch (error) {
    db?.close();
    if (sqliteCodeOf(error).startsWith('SQLITE_BUSY')) return { kind: 'taken' };
    throw refusal(path, error);
  }
}

/**
 * What may not be written SQLite opens for reading, and an exclusive transaction locks nothing then. The file is looked
 * at and not opened, see above.
 */
function requireWritable(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return;
  if (!file.isFile()) throw new Error('it is not a file');
  chmodSync(path, 0o600);
  accessSync(path, constants.W_OK);
}

function refusal(path: string, error: unknown): StoreOpenError {
  if (isFull(error)) {
    return new StoreOpenError(
      'full',
      `The lock ${path} can't be taken: the disk is full. Make room and try again. (${String(error)})`,
      { cause: error },
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreOpenError(
    'unwritable',
    `The lock ${path} can't be taken: ${reason}. It must be a file that this user may write.`,
    { cause: error },
  );
}
