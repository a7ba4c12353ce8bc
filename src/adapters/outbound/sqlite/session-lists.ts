import type Database from 'better-sqlite3';
import type { SessionSummary } from '../../../core/ports/session-queries.ts';
import type { QueryReads } from './query-reads.ts';
import { breakerFrom, headTables, holdFrom, shownHeadColumns, shownProfileFromRow } from './session-row.ts';
import type { HeadRow } from './session-row.ts';

interface SummaryRow extends Omit<HeadRow, 'system_prompt'> {
  readonly tip_message_count: number;
  readonly queued: number;
  readonly started: number;
  readonly unknown: number;
  readonly updated_at: string;
}

interface ListFields {
  readonly principalId: string;
  readonly archived: number | null;
  readonly before: string | null;
  readonly limit: number;
}

const openWith = (status: string): string =>
  `(SELECT count(*) FROM session_admissions a
    WHERE a.target_session_id = s.id AND a.status <> 'terminal' AND a.status = '${status}') AS ${status}`;

const selectSummary = `SELECT ${shownHeadColumns}, tip.message_count AS tip_message_count,
  ${openWith('queued')}, ${openWith('started')}, ${openWith('unknown')},
  (SELECT at FROM session_events e WHERE e.session_id = s.id ORDER BY seq DESC LIMIT 1) AS updated_at
  FROM ${headTables}`;

/** One row per session, in the order of creation. The cursor is the id of the last session of a page. */
const listSessionsSql = `${selectSummary}
  WHERE s.principal_id = @principalId AND s.parent_session_id IS NULL AND s.deleted_at IS NULL
    AND (@archived IS NULL OR s.archived = @archived)
    AND s.number < coalesce((SELECT number FROM sessions WHERE id = @before), iif(@before IS NULL, 9e15, 0))
  ORDER BY s.number DESC LIMIT @limit`;

const findSessionSql = `${selectSummary} WHERE s.id = ? AND s.parent_session_id IS NULL AND s.deleted_at IS NULL`;

const openBreakersSql = `SELECT id, breaker_failures, breaker_open_until, breaker_reason, breaker_recent
  FROM sessions WHERE breaker_open_until > @now ORDER BY breaker_open_until DESC LIMIT @limit`;

/** It begins with the open admissions, which have an index: what it costs depends on them and not on all sessions. */
const heldQueuesSql = `SELECT s.id, s.hold_reason, s.hold_until, s.hold_by, s.hold_at, count(*) AS queued
  FROM session_admissions CROSS JOIN sessions s ON s.id = target_session_id
  WHERE status <> 'terminal' AND status = 'queued' AND s.hold_reason IS NOT NULL
  GROUP BY s.id ORDER BY s.hold_at, s.number LIMIT ?`;

export function makeSessionLists(
  db: Database.Database,
): Pick<QueryReads, 'listSessions' | 'findSession' | 'openBreakers' | 'heldQueues'> {
  const held = db.prepare<[number], HeadRow & { readonly queued: number }>(heldQueuesSql);
  const breakers = db.prepare<[{ now: string; limit: number }], HeadRow>(openBreakersSql);
  const list = db.prepare<[ListFields], SummaryRow>(listSessionsSql);
  const find = db.prepare<[string], SummaryRow>(findSessionSql);
  return {
    listSessions({ principalId, archived, limit, before }) {
      const isArchived = archived === null ? null : Number(archived);
      const rows = list.all({ principalId, archived: isArchived, before, limit: limit + 1 });
      const sessions = rows.slice(0, limit).map(summaryFromRow);
      return { sessions, next: rows.length > limit ? (sessions.at(-1)?.sessionId ?? null) : null };
    },
    openBreakers: (page) => breakers.all(page).map((row) => ({ ...breakerFrom(row), sessionId: row.id })),
    heldQueues: (limit) =>
      held.all(limit).flatMap((row) => {
        const hold = holdFrom(row);
        return hold === null ? [] : [{ sessionId: row.id, hold, queued: row.queued }];
      }),
    findSession(sessionId) {
      const row = find.get(sessionId);
      return row === undefined ? null : summaryFromRow(row);
    },
  };
}

function summaryFromRow(row: SummaryRow): SessionSummary {
  return {
    sessionId: row.id,
    tipId: row.tip_session_id,
    profile: shownProfileFromRow(row),
    revision: row.revision,
    archived: row.archived === 1,
    pinned: row.pinned === 1,
    executionGeneration: row.execution_generation,
    transcripts: row.transcript_count,
    compressions: row.compression_count,
    messageCount: row.tip_message_count,
    queued: row.queued,
    started: row.started,
    unknown: row.unknown,
    held: row.hold_reason !== null,
    lastSeq: row.last_seq,
    updatedAt: row.updated_at,
  };
}
