import { StoreOpenError } from './store-open-error.ts';
import type { StoreOpenErrorKind } from './store-open-error.ts';
import { fullCodes, sqliteCodeOf } from './storage-errors.ts';

/** What an error means, by its code, and what to do about it. */
type Meaning = readonly [codes: RegExp, kind: StoreOpenErrorKind, advice: string];

const busy: Meaning = [
  /^SQLITE_(BUSY|LOCKED)/,
  'busy',
  'is in use by another program. Close that program and try again.',
];

const ofTheStore: readonly Meaning[] = [
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
  busy,
  [fullCodes, 'full', "can't be written: the disk is full. Make room and try again."],
  [
    /^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM|EROFS)/,
    'unwritable',
    'may not be read and written. Give this user the right to read and write the file and its folder, or choose another with --home.',
  ],
];

/** What is to be restored needs other advice than the store that it is to replace. */
const ofTheBackup: readonly Meaning[] = [
  [/^SQLITE_NOTADB/, 'not_a_database', 'is no database, and so no backup. Nothing was changed.'],
  [/^SQLITE_CORRUPT/, 'damaged', 'is damaged. Nothing was changed. Restore another backup, if there is one.'],
  busy,
  [
    /^(SQLITE_(READONLY|CANTOPEN|PERM)|EACCES|EPERM)/,
    'unwritable',
    'may not be read. Give this user the right to read it, or copy it to where that is so. Nothing was changed.',
  ],
];

/** What an error of SQLite or of the file system means for whoever wants to open the store at `path`. */
export function openError(path: string, error: unknown): StoreOpenError {
  return meaningOf(path, error, ofTheStore);
}

/** The same for whoever wants to read the backup at `path`. */
export function backupError(path: string, error: unknown): StoreOpenError {
  return meaningOf(path, error, ofTheBackup);
}

function meaningOf(path: string, error: unknown, meanings: readonly Meaning[]): StoreOpenError {
  if (error instanceof StoreOpenError) return error;
  const code = sqliteCodeOf(error);
  const reason = error instanceof Error ? error.message : String(error);
  const [, kind, advice] = meanings.find(([codes]) => codes.test(code)) ?? ['', 'io' as const, "can't be used."];
  const why = code === '' || reason.startsWith(code) ? reason : `${code}: ${reason}`;
  return new StoreOpenError(kind, `${fileOf(error) ?? path} ${advice} (${why})`, { cause: error });
}

/** An error of the file system knows its file, which may be another one of the folder. */
function fileOf(error: unknown): string | null {
  return error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : null;
}
