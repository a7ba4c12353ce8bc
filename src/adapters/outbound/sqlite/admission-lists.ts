import type Database from 'better-sqlite3';
import { charactersOfPayload, pageOf } from '../../../core/domain/transcript/content-page.ts';
import type { AdmissionPage, AdmissionWithContent } from '../../../core/ports/session-queries.ts';
import { admissionColumns, admissionFromRow } from './admission-row.ts';
import type { AdmissionRow } from './admission-row.ts';
import { makeContentOf } from './listed-content.ts';
import type { ContentOf } from './listed-content.ts';
import type { QueryReads } from './query-reads.ts';

/** Where a page begins: behind this place of the queue. */
interface Place {
  readonly position: number;
  readonly seq: number;
}

type ListStatement = Database.Statement<[Place & { readonly sessionId: string; readonly limit: number }], AdmissionRow>;

const select = `SELECT ${admissionColumns} FROM session_admissions`;

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
  const contentOf = makeContentOf(db);
  const unknown = db.prepare<[number], AdmissionRow>(unknownAdmissionsSql);
  return {
    listAdmissions: ({ sessionId, include, limit, after }) =>
      admissionPage(lists[include], contentOf, { sessionId, limit, after }),
    unknownAdmissions: (limit) => unknown.all(limit).map(admissionFromRow),
  };
}

/**
 * The cursor is a position alone, so that a page never ends between two admissions that share one: it takes the rest
 * of them as well.
 */
function admissionPage(
  list: ListStatement,
  contentOf: ContentOf,
  { sessionId, limit, after }: { readonly sessionId: string; readonly limit: number; readonly after: number | null },
): AdmissionPage {
  const from = { position: after ?? Number.MIN_SAFE_INTEGER, seq: Number.MAX_SAFE_INTEGER };
  const found = list.all({ sessionId, ...from, limit: limit + 1 });
  const { rows: admissions, next } = pageOf(withContents(found, contentOf), limit, ({ content }) =>
    charactersOfPayload(content),
  );
  const last = admissions.at(-1)?.admission;
  if (next === null || last === undefined) return { admissions, next: null };
  if (next.admission.position > last.position) return { admissions, next: last.position };
  const { position, seq } = last;
  const behindLast = list.all({ sessionId, position, seq, limit: maxSharingPosition });
  const sharing = behindLast.filter((row) => row.position === position);
  const isLast = sharing.length === behindLast.length;
  return { admissions: [...admissions, ...withContents(sharing, contentOf)], next: isLast ? null : position };
}

/** A content is read when it is asked for: those that a page has no room for stay where they are. */
function* withContents(rows: readonly AdmissionRow[], contentOf: ContentOf): Iterable<AdmissionWithContent> {
  for (const row of rows) yield { admission: admissionFromRow(row), content: contentOf(row.seq) };
}
