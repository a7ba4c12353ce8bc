import type Database from 'better-sqlite3';
import { charactersOfPayload, pageOf } from '../../../core/domain/transcript/content-page.ts';
import type { PendingContent } from '../../../core/ports/session-queries.ts';
import type { MessagesTable } from './messages-table.ts';
import { makeContentOf } from './listed-content.ts';
import type { QueryReads } from './query-reads.ts';

interface SnapshotRow {
  readonly tip: string;
  readonly last_seq: number;
}

interface OpenRow {
  readonly seq: number;
  readonly admission_id: string;
}

/** A snapshot is one read, and a read sees one commit: its parts are of one instant without being compared. */
export function makeSnapshotReads(
  db: Database.Database,
  reads: { readonly messages: MessagesTable; readonly openApprovals: QueryReads['openApprovals'] },
): Pick<QueryReads, 'snapshot'> {
  const find = db.prepare<[string], SnapshotRow>(
    `SELECT tip_session_id AS tip, (SELECT max(seq) FROM session_events WHERE session_id = s.id) AS last_seq
     FROM sessions s WHERE s.id = ? AND s.parent_session_id IS NULL AND s.deleted_at IS NULL`,
  );
  const open = db.prepare<[string], OpenRow>(
    `SELECT seq, admission_id FROM session_admissions WHERE target_session_id = ? AND status <> 'terminal'
     ORDER BY position, seq`,
  );
  const contentOf = makeContentOf(db);
  return {
    snapshot({ sessionId, before, limit }) {
      const found = find.get(sessionId);
      if (found === undefined) return null;
      const page = reads.messages.before(found.tip, before ?? Number.MAX_SAFE_INTEGER, limit);
      return {
        lastSeq: found.last_seq,
        messages: page.messages.toReversed(),
        moreMessages: page.more,
        pending: pageOf(contentsOf(open.all(sessionId)), Infinity, ({ content }) => charactersOfPayload(content)).rows,
        approvals: reads.openApprovals({ of: { sessionId }, limit: -1 }),
      };
    },
  };

  /** One by one, so that those that a page has no room for aren't read. */
  function* contentsOf(rows: readonly OpenRow[]): Iterable<PendingContent> {
    for (const row of rows) yield { admissionId: row.admission_id, content: contentOf(row.seq) };
  }
}
