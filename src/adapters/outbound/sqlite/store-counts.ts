import type Database from 'better-sqlite3';
import type { AdmissionStatus } from '../../../core/domain/admission/admission.ts';
import type { QueryReads } from './query-reads.ts';

/** Appends of several sessions are not stored strictly in the order of their numbers, but never further apart. */
const unsettledRows = 1_000;

const openByStatusSql = `SELECT status, count(*) AS count FROM session_admissions WHERE status <> 'terminal' GROUP BY status`;

/**
 * Counts what there is, at a cost that depends on what is new since the last call. Rows of both tables are numbered
 * and never go away, so that what was counted once stays counted.
 */
export function makeStoreCounts(db: Database.Database): QueryReads['counts'] {
  const openByStatus = db.prepare<[], { readonly status: AdmissionStatus; readonly count: number }>(openByStatusSql);
  const sessions = makeRunningCount(
    db,
    'SELECT max(number) FROM sessions',
    'SELECT count(*) FROM sessions WHERE number > ? AND number <= ? AND parent_session_id IS NULL',
  );
  const admissions = makeRunningCount(
    db,
    'SELECT max(seq) FROM session_admissions',
    'SELECT count(*) FROM session_admissions WHERE seq > ? AND seq <= ?',
  );
  return () => {
    const open = { queued: 0, started: 0, unknown: 0, terminal: 0 };
    for (const { status, count } of openByStatus.all()) open[status] = count;
    const terminal = admissions() - open.queued - open.started - open.unknown;
    return { sessions: sessions(), admissions: { ...open, terminal } };
  };
}

function makeRunningCount(db: Database.Database, lastSql: string, countSql: string): () => number {
  const last = db.prepare<[], number | null>(lastSql).pluck();
  const count = db.prepare<[number, number], number>(countSql).pluck();
  const between = (after: number, to: number): number => count.get(after, to) ?? 0;
  let counted = { through: 0, rows: 0 };
  return () => {
    const newest = last.get() ?? 0;
    const settled = Math.max(counted.through, newest - unsettledRows);
    counted = { through: settled, rows: counted.rows + between(counted.through, settled) };
    return counted.rows + between(settled, newest);
  };
}
