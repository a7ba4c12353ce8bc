import Database from 'better-sqlite3';

/**
 * - `quick_check`: every page, and the order of the rows.
 * - `integrity_check`: that, every index against its table, every reference, and the tables against the log of events.
 *   Several times as long.
 */
export type Check = 'quick_check' | 'integrity_check';

const maxFindings = 10;

/** What no store can have, whatever happened in it: each query answers the first few breaches, as sentences. */
const impossibilities: readonly string[] = [
  `SELECT DISTINCT 'rows of ' || "table" || ' refer to rows of ' || parent || ' that are missing' FROM pragma_foreign_key_check`,

  // A log has no gap. An older page under newer ones may leave one.
  `SELECT 'events of session ' || session_id || ' are missing' FROM session_events
   GROUP BY session_id HAVING max(seq) - min(seq) + 1 <> count(*)`,

  `SELECT 'admission ' || admission_id || ' is missing' FROM session_events
   WHERE type = 'admission.queued' AND admission_id NOT IN (SELECT admission_id FROM session_admissions)`,

  `SELECT 'message ' || (payload ->> 'message') || ' is missing' FROM session_events
   WHERE type = 'message.appended' AND (payload ->> 'message') NOT IN (SELECT id FROM messages)`,

  // An end is final.
  `SELECT 'admission ' || admission_id || ' has ended and is ' || status FROM session_admissions AS admission
   WHERE status <> 'terminal' AND EXISTS (
     SELECT 1 FROM session_events AS event
     WHERE event.session_id = admission.target_session_id AND event.admission_id = admission.admission_id
       AND event.type IN ('turn.settled', 'turn.resolved', 'admission.cancelled', 'admission.merged'))`,
];

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
    return [...lostEvents(db), ...impossibilities.flatMap((sql) => firstOf(db, sql))];
  } catch (error) {
    // What SQLite can't even read to check it.
    if (error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) return [error.message];
    throw error;
  }
}

/** The owner's row says how many events have been written. A store of an earlier schema doesn't know. */
function lostEvents(db: Database.Database): readonly string[] {
  const row = db.prepare<[], { readonly events?: number }>('SELECT * FROM runtime_epoch').get();
  const there = db.prepare<[], number>('SELECT count(*) FROM session_events').pluck().get() ?? 0;
  return row?.events === undefined || row.events === there
    ? []
    : [`${String(row.events)} events were written and ${String(there)} are there`];
}

function firstOf(db: Database.Database, sql: string): readonly string[] {
  return db.prepare<[number], string>(`${sql} LIMIT ?`).pluck().all(maxFindings);
}
