import type Database from 'better-sqlite3';
import type { PromptPayload } from '../../../core/domain/admission/admission.ts';
import type { AdmissionPage, AdmissionWithPayload } from '../../../core/ports/session-queries.ts';
import { admissionColumns, admissionFromRow } from './admission-row.ts';
import type { AdmissionRow } from './admission-row.ts';
import { fromJson } from './json-column.ts';
import type { QueryReads } from './query-reads.ts';

type PayloadRow = AdmissionRow & { readonly payload: string | null };

/** Where a page begins: behind this place of the queue. */
interface Place {
  readonly position: number;
  readonly seq: number;
}

type ListStatement = Database.Statement<[Place & { readonly sessionId: string; readonly limit: number }], PayloadRow>;

const select = `SELECT ${admissionColumns}, payload FROM session_admissions`;

const behind = (status: string): string =>
  `${select} WHERE target_session_id = @sessionId AND ${status} AND (position, seq) > (@position, @seq)
   ORDER BY position, seq LIMIT @limit`;

const openAdmissionsSql = behind(`status <> 'terminal'`);

/** Open and settled admissions have an index each; a page takes what comes first of the two. */
const allAdmissionsSql = `SELECT * FROM (${openAdmissionsSql})
  UNION ALL SELECT * FROM (${behind(`status = 'terminal'`)})
  ORDER BY position, seq LIMIT @limit`;

const unknownAdmissionsSql = `${select} WHERE status = 'unknown' ORDER BY seq LIMIT ?`;

/** A retry may share the position of what it repeats, so that a chain of retries may be as long as this. */
const maxSharingPosition = 1_000;

export function makeAdmissionLists(db: Database.Database): Pick<QueryReads, 'listAdmissions' | 'unknownAdmissions'> {
  const lists: Readonly<Record<'open' | 'all', ListStatement>> = {
    open: db.prepare(openAdmissionsSql),
    all: db.prepare(allAdmissionsSql),
  };
  const unknown = db.prepare<[number], PayloadRow>(unknownAdmissionsSql);
  return {
    listAdmissions: ({ sessionId, include, limit, after }) => pageOf(lists[include], { sessionId, limit, after }),
    unknownAdmissions: (limit) => unknown.all(limit).map(withPayload),
  };
}

/**
 * The cursor is a position alone, so that a page never ends between two admissions that share one: it takes the rest
 * of them as well.
 */
function pageOf(
  list: ListStatement,
  page: { readonly sessionId: string; readonly limit: number; readonly after: number | null },
): AdmissionPage {
  const { sessionId, limit } = page;
  const from = { position: page.after ?? Number.MIN_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };
  const found = list.all({ sessionId, ...from, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (last === undefined || found.length <= limit) return { admissions: rows.map(withPayload), next: null };
  if (found[limit]?.position === last.position) {
    const more = list.all({ sessionId, position: last.position, seq: last.seq, limit: maxSharingPosition });
    const sharing = more.filter((row) => row.position === last.position);
    const isLast = sharing.length === more.length;
    return { admissions: [...rows, ...sharing].map(withPayload), next: isLast ? null : last.position };
  }
  return { admissions: rows.map(withPayload), next: last.position };
}

function withPayload(row: PayloadRow): AdmissionWithPayload {
  return { admission: admissionFromRow(row), payload: fromJson<PromptPayload>(row.payload) };
}
