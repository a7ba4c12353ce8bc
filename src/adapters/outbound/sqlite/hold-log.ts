import Database from 'better-sqlite3';

/**
 * A connection that does nothing. When the last connection to a database is closed, in whatever way a process ends,
 * SQLite empties the log into the file: without a note, and on a disk that may just have failed. As long as this one is
 * open the log stays, and also when it is the last to be closed, because it may not write. The next start finds it.
 */
export function holdLog(path: string): Database.Database {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get(); // SQLite opens the files at the first read
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Closes a connection and leaves the log as it is, if there is any way to. */
export function closeBesideLog(db: Database.Database, path: string): void {
  let held: Database.Database | undefined;
  try {
    held = holdLog(path);
  } catch {
    // What can't be opened can't be held.
  }
  db.close();
  held?.close();
}
