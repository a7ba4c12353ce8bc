import Database from 'better-sqlite3';

/**
 * - `quick_check`: every page, and the order of the rows.
 * - `integrity_check`: that, and every index against its table, every reference, every session's log for gaps. Several
 *   times as long.
 */
export type Check = 'quick_check' | 'integrity_check';

const maxFindings = 10;

const brokenReferencesSql =
  'SELECT "table" AS "table", parent FROM pragma_foreign_key_check GROUP BY "table", parent ORDER BY "table", parent LIMIT ?';

const gapsSql = `
  SELECT session_id FROM session_events GROUP BY session_id
  HAVING max(seq) - min(seq) + 1 <> count(*) ORDER BY session_id LIMIT ?`;

/**
 * Reads the whole of a store and says what is wrong with it, the log included; an empty list when nothing is. Nothing
 * of it is changed. The time it takes grows with the store, and the log can't be emptied meanwhile.
 */
export function findDamage(path: string, check: Check): readonly string[] {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: 1_000 });
  try {
    return findDamageIn(db, check);
  } finally {
    db.close();
  }
}

export function findDamageIn(db: Database.Database, check: Check): readonly string[] {
  try {
    db.pragma('cell_size_check = ON');
    const found = db
      .prepare<[], string>(`PRAGMA ${check}(${String(maxFindings)})`)
      .pluck()
      .all();
    const damage = found.filter((line) => line !== 'ok');
    if (damage.length > 0 || check === 'quick_check') return damage;
    return [...brokenReferences(db), ...gaps(db)];
  } catch (error) {
    // What SQLite can't even read to check it.
    if (error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) return [error.message];
    throw error;
  }
}

function brokenReferences(db: Database.Database): readonly string[] {
  const rows = db.prepare<[number], { readonly table: string; readonly parent: string }>(brokenReferencesSql);
  return rows
    .all(maxFindings)
    .map(({ table, parent }) => `rows of ${table} refer to rows of ${parent} that are missing`);
}

function gaps(db: Database.Database): readonly string[] {
  const sessions = db.prepare<[number], string>(gapsSql).pluck();
  return sessions.all(maxFindings).map((sessionId) => `events of session ${sessionId} are missing`);
}
