import Database from 'better-sqlite3';
import { readCommitsInFile } from './epoch-page.ts';
import { applicationId, refuseNewerSchema } from './migrations.ts';
import { StoreOpenError } from './store-open-error.ts';
import type { StoreFacts } from './tail-check.ts';

/**
 * What a database says of itself. Nothing of it is changed, the log included: a connection that may not write doesn't
 * empty the log when it closes. Null for a file without a store in it. Takes constant time.
 */
export function inspectStore(path: string, { busyTimeoutMs }: { readonly busyTimeoutMs: number }): StoreFacts | null {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  let found: { readonly row: EpochRow; readonly page: Parameters<typeof readCommitsInFile>[1] } | null;
  try {
    requireOwnDatabase(db, path);
    refuseNewerSchema(db, path);
    found = findEpoch(db);
  } finally {
    db.close();
  }
  if (found === null) return null;
  const { epoch, store_id: storeId, commits = 0 } = found.row;
  return { storeId, epoch, commits, commitsInFile: readCommitsInFile(path, found.page) };
}

interface EpochRow {
  readonly epoch: number;
  readonly store_id: string;
  /** Absent in a store of an earlier schema. */
  readonly commits?: number;
}

function findEpoch(db: Database.Database) {
  const pageNumber = db
    .prepare<[], number>(`SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'runtime_epoch'`)
    .pluck()
    .get();
  if (pageNumber === undefined) return null;
  const row = db.prepare<[], EpochRow>('SELECT * FROM runtime_epoch WHERE singleton = 1').get();
  if (row === undefined) return null;
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  return { row, page: { pageNumber, pageBytes, column: Object.keys(row).indexOf('commits') } };
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
