import type Database from 'better-sqlite3';
import type { SessionEvent } from '../../../core/domain/session/events.ts';
import { toJson } from './json-column.ts';

type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>;

/** The record of every compression, from its beginning to its end. */
export class CompressionsTable {
  readonly #begin: Database.Statement<[BeginFields]>;
  readonly #complete: Database.Statement<[CompleteFields]>;
  readonly #fail: Database.Statement<[FailFields]>;
  readonly #delete: Database.Statement<[string]>;

  constructor(db: Database.Database) {
    this.#begin = db.prepare(
      `INSERT INTO compressions (id, session_id, parent_transcript, trigger, status, tokens_before, admission_id, epoch,
         started_at)
       VALUES (@id, @session, @parent, @trigger, 'started', @tokensBefore, @admission, @epoch, @at)`,
    );
    this.#complete = db.prepare(
      `UPDATE compressions SET status = 'completed', child_transcript = @child, tokens_before = @tokensBefore,
         tokens_after = @tokensAfter, model = @model, usage = @usage, ended_at = @at
       WHERE id = @id`,
    );
    this.#fail = db.prepare(
      `UPDATE compressions SET status = 'failed', failure = @failure, usage = @usage, ended_at = @at WHERE id = @id`,
    );
    this.#delete = db.prepare('DELETE FROM compressions WHERE session_id = ?');
  }

  begin(event: EventOf<'compression.started'>, tipId: string): void {
    this.#begin.run({
      id: event.compressionId,
      session: event.sessionId,
      parent: tipId,
      trigger: event.trigger,
      tokensBefore: event.tokensBefore,
      admission: event.admissionId,
      epoch: event.epoch,
      at: event.at,
    });
  }

  complete(event: EventOf<'compression.completed'>): void {
    this.#complete.run({
      id: event.compressionId,
      child: event.childTranscript,
      tokensBefore: event.tokensBefore,
      tokensAfter: event.tokensAfter,
      model: event.model,
      usage: toJson(event.usage),
      at: event.at,
    });
  }

  fail(event: EventOf<'compression.failed'>): void {
    this.#fail.run({
      id: event.compressionId,
      failure: JSON.stringify(event.failure),
      usage: toJson(event.usage),
      at: event.at,
    });
  }

  delete(sessionId: string): void {
    this.#delete.run(sessionId);
  }
}

interface BeginFields {
  readonly id: string;
  readonly session: string;
  readonly parent: string;
  readonly trigger: string;
  readonly tokensBefore: number;
  readonly admission: string | null;
  readonly epoch: number;
  readonly at: string;
}

interface CompleteFields {
  readonly id: string;
  readonly child: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly model: string;
  readonly usage: string | null;
  readonly at: string;
}

interface FailFields {
  readonly id: string;
  readonly failure: string;
  readonly usage: string | null;
  readonly at: string;
}
