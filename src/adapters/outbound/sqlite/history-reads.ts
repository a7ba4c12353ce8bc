import type Database from 'better-sqlite3';
import type { PromptPayload } from '../../../core/domain/admission/admission.ts';
import type { CompressionTrigger } from '../../../core/domain/lineage/lineage.ts';
import { charactersOf, charactersOfPayload, pageOf } from '../../../core/domain/transcript/content-page.ts';
import { StorageError } from '../../../core/ports/ledger.ts';
import { maxListedCompressions } from '../../../core/ports/session-queries.ts';
import type { CompressionRecord, HistoryEntry, TranscriptRecord } from '../../../core/ports/session-queries.ts';
import { admissionColumns, admissionFromRow } from './admission-row.ts';
import type { AdmissionRow } from './admission-row.ts';
import { fromJson } from './json-column.ts';
import { messageColumns, messageFromRow } from './message-row.ts';
import type { MessageRow } from './message-row.ts';
import { pageOfMessages } from './messages-table.ts';
import type { QueryReads } from './query-reads.ts';
import type { StoredBody } from './stored-event.ts';

interface EntryRange {
  readonly sessionId: string;
  readonly after: number;
  readonly before: number;
  readonly limit: number;
}

interface EntryRow {
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly admission_id: string | null;
  readonly payload: string;
}

type StoredMessageRow = MessageRow & { readonly session_id: string; readonly active: number };

/**
 * The log is the order of history, and a place in it is a cursor that no later event moves. Prompts come from their
 * admissions, where they ended, if no message of theirs was ever stored.
 */
const entries = `SELECT e.seq, e.type, e.at, e.admission_id, e.payload FROM session_events e
  WHERE e.session_id = @sessionId AND e.seq > @after AND e.seq < @before AND (
    e.type IN ('message.appended', 'compression.completed')
    OR (e.type IN ('admission.cancelled', 'turn.settled', 'turn.resolved')
      AND (SELECT prompt_message_id FROM session_admissions a WHERE a.admission_id = e.admission_id) IS NULL))`;

const transcriptsSql = `WITH RECURSIVE lineage (id, depth) AS (
    SELECT tip_session_id, 0 FROM sessions WHERE id = ?
    UNION ALL
    SELECT s.parent_session_id, depth + 1 FROM lineage JOIN sessions s ON s.id = lineage.id
    WHERE s.parent_session_id IS NOT NULL)
  SELECT s.id, s.parent_session_id, s.started_at, s.ended_at, s.end_reason, s.message_count
  FROM lineage JOIN sessions s ON s.id = lineage.id`;

export function makeHistoryReads(db: Database.Database): Pick<QueryReads, 'history' | 'lineage' | 'messages'> {
  const backwards = db.prepare<[EntryRange], EntryRow>(`${entries} ORDER BY e.seq DESC LIMIT @limit`);
  const forwards = db.prepare<[EntryRange], EntryRow>(`${entries} ORDER BY e.seq LIMIT @limit`);
  const message = db.prepare<[number], StoredMessageRow>(
    `SELECT session_id, active, ${messageColumns} FROM messages WHERE id = ?`,
  );
  const admission = db.prepare<[string], AdmissionRow & { readonly payload: string | null }>(
    `SELECT ${admissionColumns}, payload FROM session_admissions WHERE admission_id = ?`,
  );
  const transcripts = db.prepare<[string], TranscriptRow>(transcriptsSql);
  const compressions = db.prepare<[string, number], CompressionRow>(
    'SELECT * FROM compressions WHERE session_id = ? ORDER BY rowid DESC LIMIT ?',
  );
  const ofSession = db.prepare<[string, string], MessageRow>(
    `SELECT ${messageColumns.replaceAll(/\w+/g, 'm.$&')} FROM messages m JOIN sessions s ON s.id = m.session_id
     WHERE m.id IN (SELECT value FROM json_each(?)) AND s.root_session_id = ? ORDER BY m.id`,
  );

  return {
    history({ sessionId, before, after, limit }) {
      const isForward = after !== null && before === null;
      const rows = (isForward ? forwards : backwards).all({
        sessionId,
        after: after ?? 0,
        before: before ?? Number.MAX_SAFE_INTEGER,
        limit: limit + 1,
      });
      const page = pageOf(sizedEntries(rows), limit, ({ characters }) => characters);
      const found = page.rows.map(({ entry }) => entry);
      return { entries: isForward ? found : found.reverse(), more: page.next !== null };
    },
    lineage: (sessionId) => ({
      transcripts: transcripts.all(sessionId).reverse().map(transcriptFromRow),
      compressions: compressions.all(sessionId, maxListedCompressions).reverse().map(compressionFromRow),
    }),
    messages: ({ sessionId, ids }) =>
      pageOfMessages(ofSession.iterate(JSON.stringify(ids), sessionId), ids.length).messages,
  };

  /** What was read for an entry is its size, also where the entry shows less of it. */
  function* sizedEntries(rows: readonly EntryRow[]): Iterable<SizedEntry> {
    for (const row of rows) yield sizedEntry(row);
  }

  function sizedEntry(row: EntryRow): SizedEntry {
    const { seq, at } = row;
    const body = { type: row.type, ...(JSON.parse(row.payload) as object) } as StoredBody; // as the log wrote it
    if (body.type === 'message.appended') {
      const stored = messageOf(body.message);
      const message = messageFromRow(stored);
      const place = { transcriptId: stored.session_id, active: stored.active === 1 };
      return { entry: { kind: 'message', seq, at, ...place, message }, characters: charactersOf(message) };
    }
    if (body.type === 'compression.completed') {
      const { type, head, summary, tail, retired, ...compression } = body;
      const message = messageFromRow(messageOf(summary));
      return {
        entry: { kind: 'compression', seq, at, compression, summary: message },
        characters: charactersOf(message),
      };
    }
    const found = admission.get(row.admission_id ?? '');
    if (found === undefined) throw missing(`admission ${row.admission_id ?? ''}`);
    const content = fromJson<PromptPayload>(found.payload);
    return {
      entry: { kind: 'prompt', seq, at, admission: admissionFromRow(found), content },
      characters: charactersOfPayload(content),
    };
  }

  function messageOf(id: number): StoredMessageRow {
    const row = message.get(id);
    if (row === undefined) throw missing(`message ${String(id)}`);
    return row;
  }
}

interface SizedEntry {
  readonly entry: HistoryEntry;
  readonly characters: number;
}

/** Only damage can have taken it away. */
function missing(what: string): StorageError {
  return new StorageError('corrupt', `The log of events refers to ${what}, which is not there`);
}

interface TranscriptRow {
  readonly id: string;
  readonly parent_session_id: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly end_reason: string | null;
  readonly message_count: number;
}

function transcriptFromRow(row: TranscriptRow): TranscriptRecord {
  return {
    id: row.id,
    parentId: row.parent_session_id,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    endReason: row.end_reason,
    messageCount: row.message_count,
  };
}

interface CompressionRow {
  readonly id: string;
  readonly parent_transcript: string;
  readonly child_transcript: string | null;
  readonly trigger: string;
  readonly status: string;
  readonly tokens_before: number;
  readonly tokens_after: number | null;
  readonly model: string | null;
  readonly usage: string | null;
  readonly failure: string | null;
  readonly admission_id: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
}

function compressionFromRow(row: CompressionRow): CompressionRecord {
  return {
    compressionId: row.id,
    trigger: row.trigger as CompressionTrigger, // written from an event of this type
    status: row.status as CompressionRecord['status'], // the table's own check
    parentTranscript: row.parent_transcript,
    childTranscript: row.child_transcript,
    admissionId: row.admission_id,
    tokensBefore: row.tokens_before,
    tokensAfter: row.tokens_after,
    model: row.model,
    usage: fromJson(row.usage),
    failure: fromJson(row.failure),
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}
