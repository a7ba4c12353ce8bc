import { closeSync, openSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { storePath } from '../../../src/adapters/outbound/sqlite/store-files.ts';

/** Loses the page with the first rows of a table, as a disk may. The store must be closed. */
export function zeroFirstLeafOf(home: string, table: 'session_admissions' | 'session_events'): void {
  const db = new Database(storePath(home), { readonly: true });
  const firstLeaf = `SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path LIMIT 1`;
  const page = db.prepare<[string], number>(firstLeaf).pluck().get(table) ?? 0;
  db.close();
  const file = openSync(storePath(home), 'r+');
  writeSync(file, Buffer.alloc(4_096), 0, 4_096, (page - 1) * 4_096);
  closeSync(file);
}
