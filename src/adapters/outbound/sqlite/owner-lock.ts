import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { prepareHomeFolder } from './home-folder.ts';
import { StoreOpenError } from './store-open-error.ts';
import { sqliteCodeOf } from './storage-errors.ts';

export type OwnerLock = { readonly kind: 'held'; release(): void } | { readonly kind: 'taken' };

/**
 * Makes this process the only owner of a home folder, until it releases the lock or dies: the kernel frees it at any
 * death, so that there is nothing stale to clean up. It answers at once.
 *
 * The lock is an exclusive transaction on a database of its own. Nothing else in this process may ever open that file
 * by any means: POSIX drops all of a process's locks on a file when it closes any handle to it.
 */
export function acquireOwnerLock(home: string, options: { readonly allowUnsafeFilesystem?: boolean } = {}): OwnerLock {
  prepareHomeFolder(home, { allowUnsafeFilesystem: options.allowUnsafeFilesystem ?? false });
  const path = join(home, 'gateway.lock');
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { timeout: 0 });
    db.exec('BEGIN EXCLUSIVE');
    chmodSync(path, 0o600);
    return { kind: 'held', release: () => void db?.close() };
  } catch (error) {
    db?.close();
    if (sqliteCodeOf(error).startsWith('SQLITE_BUSY')) return { kind: 'taken' };
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreOpenError(
      'unwritable',
      `The lock ${path} can't be taken: ${reason}. It must be a file of this user.`,
      {
        cause: error,
      },
    );
  }
}
