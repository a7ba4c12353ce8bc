import type Database from 'better-sqlite3';
import type { SessionEvent, SessionEventHeader } from '../../../core/domain/session/events.ts';
import { charactersOfEvent, pageOf } from '../../../core/domain/transcript/content-page.ts';
import type { Message, MessageMeta } from '../../../core/domain/transcript/message.ts';
import { StorageError } from '../../../core/ports/ledger.ts';
import type { AdmissionsTable } from './admissions-table.ts';
import type { MessagesTable } from './messages-table.ts';
import type { SessionsTable } from './sessions-table.ts';
import { fromStored, messagesIn, toStored } from './stored-event.ts';
import type { StoredBody } from './stored-event.ts';

interface EventRow {
  readonly session_id: string;
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly epoch: number;
  readonly admission_id: string | null;
  readonly execution_generation: number | null;
  readonly payload: string;
}

export interface EventTables {
  readonly sessions: SessionsTable;
  readonly messages: MessagesTable;
  readonly admissions: AdmissionsTable;
}

/** The durable log of every session. */
export class EventsTable {
  readonly #tables: EventTables;
  readonly #insert: Database.Statement<[EventRow]>;
  readonly #after: Database.Statement<[string, number, number], EventRow>;
  readonly #messages: Database.Statement<[string], EventRow>;
  readonly #changing: Database.Statement<[string, number, number], EventRow>;
  readonly #delete: Database.Statement<[string]>;
  readonly #lastSeq: Database.Statement<[string], number | null>;

  constructor(db: Database.Database, tables: EventTables) {
    this.#tables = tables;
    this.#insert = db.prepare(
      `INSERT INTO session_events (session_id, seq, type, at, epoch, admission_id, execution_generation, payload)
       VALUES (@session_id, @seq, @type, @at, @epoch, @admission_id, @execution_generation, @payload)`,
    );
    this.#after = db.prepare('SELECT * FROM session_events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?');
    this.#messages = db.prepare(
      `SELECT * FROM session_events WHERE session_id = ? AND type IN ('message.appended', 'compression.completed')`,
    );
    this.#changing = db.prepare(
      `SELECT * FROM session_events WHERE session_id = ? AND seq > ?
         AND type IN ('message.appended', 'compression.completed', 'turn.settled') ORDER BY seq LIMIT ?`,
    );
    this.#delete = db.prepare('DELETE FROM session_events WHERE session_id = ?');
    this.#lastSeq = db
      .prepare<[string], number | null>('SELECT max(seq) FROM session_events WHERE session_id = ?')
      .pluck();
  }

  insert(event: SessionEvent): void {
    this.#insert.run(eventToRow(event));
  }

  /** Every message that the session ever had, in any transcript, active or not. */
  messagesOf(sessionId: string): readonly number[] {
    return this.#messages.all(sessionId).flatMap((row) => messagesIn(bodyFromRow(row)));
  }

  /** Removes the events of a session and says how many there were. */
  delete(sessionId: string): number {
    return this.#delete.run(sessionId).changes;
  }

  /** The events that change a transcript, without content. */
  ofTranscripts(sessionId: string, afterSeq: number, limit: number): readonly SessionEvent[] {
    const rows = this.#changing.all(sessionId, afterSeq, limit);
    const bodies = rows.map(bodyFromRow);
    return [...this.#complete(sessionId, rows, bodies, this.#metasOf(bodies))];
  }

  /** 0 for a session that doesn't exist. */
  lastSeq(sessionId: string): number {
    return this.#lastSeq.get(sessionId) ?? 0;
  }

  /** All events after `afterSeq`, in order, without content. */
  after(sessionId: string, afterSeq: number): readonly SessionEvent[] {
    const rows = this.#after.all(sessionId, afterSeq, -1);
    const bodies = rows.map(bodyFromRow);
    return [...this.#complete(sessionId, rows, bodies, this.#metasOf(bodies))];
  }

  /** The first page of the events after `afterSeq`, in order. A `message.appended` brings its whole message. */
  page(sessionId: string, afterSeq: number, limit: number): readonly SessionEvent[] {
    const rows = this.#after.all(sessionId, afterSeq, limit);
    const bodies = rows.map(bodyFromRow);
    const metaOf = this.#metasOf(bodies.filter(({ type }) => type !== 'message.appended'));
    const message = (id: number): Message | MessageMeta | null => metaOf(id) ?? this.#tables.messages.byId(id);
    return pageOf(this.#complete(sessionId, rows, bodies, message), limit, charactersOfEvent).rows;
  }

  /** One by one, so that what a page has no room for needs no content. What several have in common is read at once. */
  *#complete(
    sessionId: string,
    rows: readonly EventRow[],
    bodies: readonly StoredBody[],
    message: (id: number) => Message | MessageMeta | null,
  ): Iterable<SessionEvent> {
    const admissions = this.#tables.admissions.byIds(queuedIn(rows));
    const admissionById = new Map(admissions.map((admission) => [admission.admissionId, admission]));
    const sources = {
      systemPrompt: () => this.#tables.sessions.systemPrompt(sessionId),
      admission: (id: string) => found(admissionById.get(id), `admission ${id}`),
      message: (id: number) => found(message(id), `message ${String(id)}`),
    };
    for (const [index, row] of rows.entries()) {
      yield fromStored(headerFromRow(row), found(bodies[index], 'body'), sources);
    }
  }

  #metasOf(bodies: readonly StoredBody[]): (id: number) => MessageMeta | null {
    const metas = this.#tables.messages.metasByIds(bodies.flatMap(messagesIn));
    const byId = new Map(metas.map((meta) => [meta.id, meta]));
    return (id) => byId.get(id) ?? null;
  }
}

function queuedIn(rows: readonly EventRow[]): readonly string[] {
  return rows.flatMap((row) => (row.type === 'admission.queued' ? (row.admission_id ?? []) : []));
}

/** An event without the row that it refers to: only damage can have taken it away. */
function found<T>(value: T | null | undefined, what: string): T {
  if (value === undefined || value === null)
    throw new StorageError('corrupt', `The log of events refers to ${what}, which is not there`);
  return value;
}

function eventToRow(event: SessionEvent): EventRow {
  const { type, ...payload } = toStored(event);
  return {
    session_id: event.sessionId,
    seq: event.seq,
    type,
    at: event.at,
    epoch: event.epoch,
    admission_id: event.admissionId,
    execution_generation: event.executionGeneration,
    payload: JSON.stringify(payload),
  };
}

function bodyFromRow(row: EventRow): StoredBody {
  return { type: row.type, ...(JSON.parse(row.payload) as object) } as StoredBody; // written by `eventToRow`
}

function headerFromRow(row: EventRow): SessionEventHeader {
  return {
    sessionId: row.session_id,
    seq: row.seq,
    at: row.at,
    epoch: row.epoch,
    admissionId: row.admission_id,
    executionGeneration: row.execution_generation,
  };
}
