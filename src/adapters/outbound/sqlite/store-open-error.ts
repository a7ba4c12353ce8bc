/**
 * Why a store can't be opened.
 *
 * - `not_a_file`: something else than a regular file is in the place of one of its files.
 * - `not_a_database`, `damaged`: the file's content is no database, or no longer one. It stays as it is.
 * - `tail_missing`: commits that were acknowledged are not there.
 * - `older_file`: the database file is older than the log beside it.
 * - `other_store`: the database and the mark beside it are of different stores.
 * - `no_backup`: what is to be restored is no backup.
 * - `foreign`: a database of another program.
 * - `newer_schema`: written by a newer version of this program.
 * - `wrong_owner`, `unwritable`: the folder or the file may not be used by this user.
 * - `unsafe_filesystem`, `wal_unavailable`: commits would not be safe or not be durable there.
 * - `full`: the disk has no room for what opening it takes.
 * - `busy`: another program holds the database.
 * - `io`: the operating system reported an error.
 */
export type StoreOpenErrorKind =
  | 'not_a_file'
  | 'not_a_database'
  | 'damaged'
  | 'tail_missing'
  | 'older_file'
  | 'other_store'
  | 'no_backup'
  | 'foreign'
  | 'newer_schema'
  | 'wrong_owner'
  | 'unwritable'
  | 'unsafe_filesystem'
  | 'wal_unavailable'
  | 'full'
  | 'busy'
  | 'io';

/** The message names the file and the next step. Nothing was changed or deleted. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError';
  readonly kind: StoreOpenErrorKind;

  constructor(kind: StoreOpenErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}
