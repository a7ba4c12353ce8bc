import type Database from 'better-sqlite3';
import type { RunningCall } from '../../../core/domain/session/state.ts';

interface StartedCall {
  readonly sessionId: string;
  readonly admissionId: string;
  readonly transcriptId: string;
  readonly callId: string;
  readonly name: string;
  readonly at: string;
}

/** The journal of tool calls: one row for each call that was started, with what became of it. */
export class ToolCallsTable {
  readonly #start: Database.Statement<[StartedCall]>;
  readonly #finish: Database.Statement<[{ sessionId: string; callId: string; status: string; at: string }]>;
  readonly #abandon: Database.Statement<[{ sessionId: string; at: string }]>;
  readonly #delete: Database.Statement<[string]>;
  readonly #running: Database.Statement<[string], { call_id: string; name: string; started_at: string }>;

  constructor(db: Database.Database) {
    this.#start = db.prepare(
      `INSERT INTO tool_calls (call_id, session_id, admission_id, message_id, name, status, started_at, arguments)
       SELECT @callId, @sessionId, @admissionId, m.id, @name, 'started', @at, coalesce(
         (SELECT json_extract(value, '$.arguments') FROM json_each(m.tool_calls)
          WHERE json_extract(value, '$.id') = @callId LIMIT 1), '')
       FROM messages m
       WHERE m.session_id = @transcriptId AND m.active = 1 AND m.admission_id = @admissionId AND m.role = 'assistant'
       ORDER BY m.id DESC LIMIT 1`,
    );
    this.#finish = db.prepare(
      `UPDATE tool_calls SET status = @status, finished_at = @at
       WHERE session_id = @sessionId AND call_id = @callId AND status = 'started'`,
    );
    this.#abandon = db.prepare(
      "UPDATE tool_calls SET status = 'unknown', finished_at = @at WHERE session_id = @sessionId AND status = 'started'",
    );
    this.#delete = db.prepare('DELETE FROM tool_calls WHERE message_id IN (SELECT value FROM json_each(?))');
    this.#running = db.prepare(
      "SELECT call_id, name, started_at FROM tool_calls WHERE session_id = ? AND status = 'started' ORDER BY id",
    );
  }

  start(call: StartedCall): void {
    this.#start.run(call);
  }

  finish(call: {
    readonly sessionId: string;
    readonly callId: string;
    readonly status: string;
    readonly at: string;
  }): void {
    this.#finish.run(call);
  }

  /** The turn has ended: what became of its running calls will never be known. */
  abandon(sessionId: string, at: string): void {
    this.#abandon.run({ sessionId, at });
  }

  /** Removes the calls of these messages. */
  delete(messageIds: readonly number[]): void {
    this.#delete.run(JSON.stringify(messageIds));
  }

  running(sessionId: string): readonly RunningCall[] {
    return this.#running.all(sessionId).map((row) => ({
      callId: row.call_id,
      name: row.name,
      startedAt: row.started_at,
    }));
  }
}
