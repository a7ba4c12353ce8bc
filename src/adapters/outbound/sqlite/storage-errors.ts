import { StorageError } from '../../../core/ports/ledger.ts';

type FailureKind = Exclude<StorageError['kind'], 'too_large'>;

/** SQLite's primary result codes that say that the storage failed; an extended code begins with one of them. */
const kinds: readonly (readonly [code: string, kind: FailureKind])[] = [
  ['SQLITE_FULL', 'full'],
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_CORRUPT', 'corrupt'],
  ['SQLITE_NOTADB', 'corrupt'],
  ['SQLITE_IOERR', 'io'],
  ['SQLITE_READONLY', 'io'],
  ['SQLITE_CANTOPEN', 'io'],
  ['SQLITE_PERM', 'io'],
  ['SQLITE_PROTOCOL', 'io'],
  ['SQLITE_NOLFS', 'io'],
  ['SQLITE_NOMEM', 'io'],
];

/** What better-sqlite3 says of a connection that was closed, without a code. */
const notOpen = 'The database connection is not open';

const meanings: Readonly<Record<FailureKind, string>> = {
  full: 'The disk is full',
  busy: 'Another program holds the database',
  io: 'The storage device reported an error',
  corrupt: 'The database is damaged',
};

/**
 * The storage failure that an error of SQLite stands for, or null for everything else: a breach of a constraint, a
 * statement that doesn't fit the schema, an invariant of the core. Those are bugs of one request, and no verdict on
 * the storage.
 */
export function storageErrorFrom(error: unknown): StorageError | null {
  if (error instanceof StorageError) return error;
  if (error instanceof TypeError && error.message === notOpen) return new StorageError('io', 'The store is closed');
  const code = sqliteCodeOf(error);
  const kind = kinds.find(([primary]) => code === primary || code.startsWith(`${primary}_`))?.[1];
  if (kind === undefined) return null;
  const detail = error instanceof Error ? error.message : String(error);
  return new StorageError(kind, `${meanings[kind]} (${code}: ${detail})`, { cause: error });
}

/** Runs `action` and turns its storage failures into the port's own. */
export function withStorageErrors<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw storageErrorFrom(error) ?? error;
  }
}

export function sqliteCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** How SQLite and the file system say that there is no room; the long one is of the index of a write-ahead log. */
export const fullCodes = /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)/;

export function isFull(error: unknown): boolean {
  return fullCodes.test(sqliteCodeOf(error));
}
