import type Database from 'better-sqlite3';
import type { Failure } from '../../../core/domain/model/failure.ts';
import type { Usage } from '../../../core/domain/model/usage.ts';
import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { CompressionKey, CompressionRecord } from '../../../core/ports/ledger.ts';
import { fromJson, toJson } from './json-column.ts';

type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>;

/** The record of every compression, from its beginning to its end. */
export class CompressionsTable {
  readonly #begin: Database.Statement<[BeginFields]>;
  readonly #complete: Database.Statement<[CompleteFields]>;
  readonly #fail: Database.Statement<[FailFields]>;
  readonly #byRequest: Database.Statement<[CompressionKey], RecordRow>;
  readonly #delete: Database.Statement<[string]>;

  constructor(db: Database.Database) {
    this.#begin = db.prepare(
      `INSERT INTO compressions (id, session_id, parent_transcript, trigger, status, tokens_before, admission_id, epoch,
         started_at, execution_generation, principal_id, request_id, request_digest)
       VALUES (@id, @session, @parent, @trigger, 'started', @tokensBefore, @admission, @epoch, @at, @generation,
         @principal, @request, @digest)`,
    );
    this.#complete = db.prepare(
      `UPDATE compressions SET status = 'completed', child_transcript = @child, tokens_before = @tokensBefore,
         tokens_after = @tokensAfter, model = @model, usage = @usage, ended_at = @at
       WHERE id = @id`,
    );
    this.#fail = db.prepare(
      `UPDATE compressions SET status = 'failed', failure = @failure, usage = @usage, ended_at = @at WHERE id = @id`,
    );
    this.#byRequest = db.prepare(
      `SELECT id, request_digest, execution_generation, status, tokens_before, tokens_after, child_transcript, model,
         usage, failure
       FROM compressions
       WHERE session_id = @sessionId AND principal_id = @principalId AND request_id = @requestId`,
    );
    this.#delete = db.prepare('DELETE FROM compressions WHERE session_id = ?');
  }

  byRequest({ sessionId, principalId, requestId }: CompressionKey): CompressionRecord | null {
    const row = this.#byRequest.get({ sessionId, principalId, requestId });
    return row === undefined ? null : fromRow(row);
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
      generation: event.executionGeneration,
      principal: event.request?.principalId ?? null,
      request: event.request?.requestId ?? null,
      digest: event.request?.requestDigest ?? null,
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
  readonly generation: number | null;
  readonly principal: string | null;
  readonly request: string | null;
  readonly digest: string | null;
}

interface RecordRow {
  readonly id: string;
  readonly request_digest: string;
  readonly execution_generation: number;
  readonly status: string;
  readonly tokens_before: number;
  readonly tokens_after: number | null;
  readonly child_transcript: string | null;
  readonly model: string | null;
  readonly usage: string | null;
  readonly failure: string | null;
}

function fromRow(row: RecordRow): CompressionRecord {
  return {
    compressionId: row.id,
    requestDigest: row.request_digest,
    executionGeneration: row.execution_generation,
    status: row.status as CompressionRecord['status'], // the column's own CHECK
    tokensBefore: row.tokens_before,
    tokensAfter: row.tokens_after,
    childTranscript: row.child_transcript,
    model: row.model,
    usage: fromJson<Usage>(row.usage),
    failure: fromJson<Failure>(row.failure),
  };
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
