import type Database from 'better-sqlite3';
import type { SessionEvent, SessionEventHeader } from '../../../core/domain/session/events.ts';
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
    return this.#complete(sessionId, this.#changing.all(sessionId, afterSeq, limit), false);
  }

  /** 0 for a session that doesn't exist. */
  lastSeq(sessionId: string): number {
    return this.#lastSeq.get(sessionId) ?? 0;
  }

  /**
   * The events after `afterSeq`, in order, at most `limit`. With `content: true` a `message.appended` brings its whole
   * message. The number of queries doesn't depend on the number of events.
   */
  after(
    sessionId: string,
    afterSeq: number,
    options: { readonly limit: number; readonly content: boolean },
  ): readonly SessionEvent[] {
    return this.#complete(sessionId, this.#after.all(sessionId, afterSeq, options.limit), options.content);
  }

  #complete(sessionId: string, rows: readonly EventRow[], content: boolean): readonly SessionEvent[] {
    const bodies = rows.map(bodyFromRow);
    const messages = this.#contentOf(bodies, content);
    const admissions = this.#tables.admissions.byIds(queuedIn(rows));
    const messageById = new Map(messages.map((message) => [message.id, message]));
    const admissionById = new Map(admissions.map((admission) => [admission.admissionId, admission]));
    const sources = {
      systemPrompt: () => this.#tables.sessions.profileOf(sessionId)?.systemPrompt ?? null,
      admission: (id: string) => found(admissionById.get(id), `admission ${id}`),
      message: (id: number) => found(messageById.get(id), `message ${String(id)}`),
    };
    return rows.map((row, index) => fromStored(headerFromRow(row), found(bodies[index], 'body'), sources));
  }

  #contentOf(bodies: readonly StoredBody[], content: boolean): readonly (Message | MessageMeta)[] {
    const whole = (body: StoredBody): boolean => content && body.type === 'message.appended';
    return [
      ...this.#tables.messages.byIds(bodies.filter(whole).flatMap(messagesIn)),
      ...this.#tables.messages.metasByIds(bodies.filter((body) => !whole(body)).flatMap(messagesIn)),
    ];
  }
}

function queuedIn(rows: readonly EventRow[]): readonly string[] {
  return rows.flatMap((row) => (row.type === 'admission.queued' ? (row.admission_id ?? []) : []));
}

/** An event without the row that it refers to: only damage can have taken it away. */
function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new StorageError('corrupt', `The log of events refers to ${what}, which is not there`);
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
