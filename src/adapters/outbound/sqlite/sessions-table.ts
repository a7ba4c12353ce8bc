import type Database from 'better-sqlite3';
import { invariant } from '../../../core/domain/invariant.ts';
import type { CompressionLineage } from '../../../core/domain/lineage/lineage.ts';
import { createdSession } from '../../../core/domain/session/evolve.ts';
import type { Hold, SessionProfile, UsageAnchor } from '../../../core/domain/session/state.ts';
import type { SessionChanges } from '../../../core/domain/session/update.ts';
import type { AnsweredBy } from '../../../core/domain/transcript/message.ts';
import type { CreatedSession, OwnedSession } from '../../../core/ports/ledger.ts';
import { headColumns, headFromRow, headTables, profileColumns, profileToRow } from './session-row.ts';
import type { HeadRow, ProfileRow, SessionHead } from './session-row.ts';

/** One row for each transcript; the root row carries what belongs to the session as a whole. */
export class SessionsTable {
  readonly #insertRoot: Database.Statement<[ProfileRow & RootFields]>;
  readonly #insertChild: Database.Statement<[ProfileRow & ChildFields]>;
  readonly #close: Database.Statement<[{ readonly id: string; readonly at: string; readonly reason: string }]>;
  readonly #head: Database.Statement<[string], HeadRow>;
  readonly #profile: Database.Statement<[string], ProfileRow>;
  readonly #systemPrompt: Database.Statement<[string], string | null>;
  readonly #tip: Database.Statement<[string], string>;
  readonly #root: Database.Statement<[string], OwnedSession>;
  readonly #created: Database.Statement<[string, string], { readonly id: string; readonly request_digest: string }>;
  readonly #setHold: Database.Statement<[HoldFields]>;
  readonly #setGeneration: Database.Statement<[number, string]>;
  readonly #setUsageAnchor: Database.Statement<[number | null, number | null, string]>;
  readonly #setLineage: Database.Statement<[LineageFields]>;
  readonly #setAnswered: Database.Statement<[AnsweredBy & { readonly session: string }]>;
  readonly #update: Database.Statement<[UpdateFields]>;
  readonly #lineage: Database.Statement<[string], string>;
  readonly #empty: Database.Statement<[string]>;
  readonly #markDeleted: Database.Statement<[{ readonly id: string; readonly at: string }]>;
  readonly #noteDeletion: Database.Statement<[string]>;
  readonly #raiseRevision: Database.Statement<[string]>;
  readonly #countMessages: Database.Statement<[number, string]>;

  constructor(db: Database.Database) {
    this.#insertRoot = db.prepare(
      `INSERT INTO sessions (id, root_session_id, tip_session_id, revision, execution_generation, transcript_count,
         compression_count, breaker_failures, ${profileColumns})
       VALUES (@id, @id, @id, @revision, @execution_generation, @transcript_count, @compression_count,
         @breaker_failures, ${profileColumns.replaceAll(/\w+/g, '@$&')})`,
    );
    // Not INSERT … SELECT: into a table that others refer to, SQLite plans a scan of each of those for it.
    this.#insertChild = db.prepare(
      `INSERT INTO sessions (id, parent_session_id, root_session_id, source, title, model, provider, base_url, cwd,
         principal_id, toolsets, started_at)
       VALUES (@id, @parent, @root, @source, @title, @model, @provider, @base_url, @cwd, @principal_id, @toolsets, @at)`,
    );
    this.#close = db.prepare(
      'UPDATE sessions SET ended_at = @at, end_reason = @reason WHERE id = @id AND ended_at IS NULL',
    );
    this.#head = db.prepare(`SELECT ${headColumns} FROM ${headTables} WHERE s.id = ? AND s.parent_session_id IS NULL`);
    this.#profile = db.prepare(`SELECT ${profileColumns} FROM sessions WHERE id = ? AND parent_session_id IS NULL`);
    this.#systemPrompt = db.prepare<[string], string | null>('SELECT system_prompt FROM sessions WHERE id = ?').pluck();
    this.#tip = db.prepare<[string], string>('SELECT tip_session_id FROM sessions WHERE id = ?').pluck();
    this.#root = db.prepare(
      'SELECT root_session_id AS sessionId, principal_id AS principalId FROM sessions WHERE id = ?',
    );
    this.#created = db.prepare('SELECT id, request_digest FROM sessions WHERE principal_id = ? AND request_id = ?');
    this.#setHold = db.prepare(
      `UPDATE sessions SET hold_reason = @reason, hold_until = @until, hold_by = @by, hold_at = @at,
         revision = revision + 1 WHERE id = @session`,
    );
    this.#setGeneration = db.prepare('UPDATE sessions SET execution_generation = ? WHERE id = ?');
    this.#setUsageAnchor = db.prepare(
      'UPDATE sessions SET usage_anchor_tokens = ?, usage_anchor_message_id = ? WHERE id = ?',
    );
    this.#setLineage = db.prepare(
      `UPDATE sessions SET tip_session_id = @tip, transcript_count = @length, compression_count = @compressions,
         breaker_failures = @failures, breaker_open_until = @openUntil, breaker_reason = @reason,
         breaker_recent = @recent WHERE id = @session`,
    );
    // A row that says so already is not written again. What another model has reported is no anchor any more.
    this.#setAnswered = db.prepare(
      `UPDATE sessions SET answered_provider = @provider, answered_model = @model, answered_base_url = @baseUrl,
         usage_anchor_tokens = NULL, usage_anchor_message_id = NULL
       WHERE id = @session AND (answered_provider IS NOT @provider OR answered_model IS NOT @model
         OR answered_base_url IS NOT @baseUrl)`,
    );
    this.#update = db.prepare(
      `UPDATE sessions SET title = iif(@setsTitle, @title, title), provider = coalesce(@provider, provider),
         model = coalesce(@model, model), base_url = iif(@setsModel, @baseUrl, base_url),
         usage_anchor_tokens = iif(@setsModel, NULL, usage_anchor_tokens),
         usage_anchor_message_id = iif(@setsModel, NULL, usage_anchor_message_id),
         archived = coalesce(@archived, archived), pinned = coalesce(@pinned, pinned), revision = revision + 1
       WHERE id = @session`,
    );
    this.#lineage = db
      .prepare<[string], string>(
        `WITH RECURSIVE lineage (id) AS (
           SELECT tip_session_id FROM sessions WHERE id = ?
           UNION ALL
           SELECT s.parent_session_id FROM lineage JOIN sessions s ON s.id = lineage.id
           WHERE s.parent_session_id IS NOT NULL)
         SELECT id FROM lineage`,
      )
      .pluck();
    this.#empty = db.prepare(
      `UPDATE sessions SET title = NULL, cwd = NULL, system_prompt = NULL, message_count = 0
       WHERE id IN (SELECT value FROM json_each(?))`,
    );
    this.#markDeleted = db.prepare(
      `UPDATE sessions SET deleted_at = @at, system_prompt_tokens = 0, usage_anchor_tokens = NULL,
         usage_anchor_message_id = NULL, hold_reason = NULL, hold_until = NULL, hold_by = NULL, hold_at = NULL,
         breaker_failures = 0, breaker_open_until = NULL, breaker_reason = NULL, breaker_recent = '[]',
         revision = revision + 1
       WHERE id = @id`,
    );
    this.#noteDeletion = db.prepare('INSERT INTO session_deletions (session_id) VALUES (?)');
    this.#raiseRevision = db.prepare('UPDATE sessions SET revision = revision + 1 WHERE id = ?');
    this.#countMessages = db.prepare('UPDATE sessions SET message_count = message_count + ? WHERE id = ?');
  }

  insertRoot(sessionId: string, profile: SessionProfile): void {
    const { revision, executionGeneration, lineage } = createdSession(sessionId, profile);
    this.#insertRoot.run({
      ...profileToRow(profile),
      id: sessionId,
      revision,
      execution_generation: executionGeneration,
      transcript_count: lineage.length,
      compression_count: lineage.compressions,
      breaker_failures: lineage.breaker.failures,
    });
  }

  /** Closes a transcript and opens the one that continues it. */
  rotate(rotation: {
    readonly root: string;
    readonly parent: string;
    readonly child: string;
    readonly at: string;
  }): void {
    const { root, parent, child, at } = rotation;
    const row = this.#profile.get(root);
    invariant(row !== undefined, 'only a created session is rotated');
    invariant(
      this.#close.run({ id: parent, at, reason: 'compression' }).changes === 1,
      'L1: only an open transcript is rotated',
    );
    this.#insertChild.run({ ...row, id: child, parent, root, at });
  }

  head(sessionId: string): SessionHead | null {
    const row = this.#head.get(sessionId);
    return row === undefined ? null : headFromRow(row);
  }

  systemPrompt(sessionId: string): string | null {
    return this.#systemPrompt.get(sessionId) ?? null;
  }

  tipOf(sessionId: string): string | null {
    return this.#tip.get(sessionId) ?? null;
  }

  rootOf(transcriptId: string): OwnedSession | null {
    return this.#root.get(transcriptId) ?? null;
  }

  created(key: { readonly principalId: string; readonly requestId: string }): CreatedSession | null {
    const row = this.#created.get(key.principalId, key.requestId);
    return row === undefined ? null : { sessionId: row.id, requestDigest: row.request_digest };
  }

  setHold(sessionId: string, hold: Hold | null): void {
    const { reason, until, by, at } = hold ?? { reason: null, until: null, by: null, at: null };
    this.#setHold.run({ session: sessionId, reason, until, by, at });
  }

  setGeneration(sessionId: string, generation: number): void {
    this.#setGeneration.run(generation, sessionId);
  }

  setUsageAnchor(sessionId: string, anchor: UsageAnchor | null): void {
    this.#setUsageAnchor.run(anchor?.tokens ?? null, anchor?.messageId ?? null, sessionId);
  }

  setLineage(lineage: CompressionLineage): void {
    const { rootId: session, tipId: tip, length, compressions, breaker } = lineage;
    const recent = JSON.stringify(breaker.recent);
    this.#setLineage.run({ session, tip, length, compressions, ...breaker, recent });
  }

  /** This model has given the newest answer. */
  setAnswered(sessionId: string, { provider, model, baseUrl }: AnsweredBy): void {
    this.#setAnswered.run({ session: sessionId, provider, model, baseUrl });
  }

  update(sessionId: string, { title, model, archived, pinned }: SessionChanges): void {
    this.#update.run({
      session: sessionId,
      setsTitle: title === undefined ? 0 : 1,
      title: title ?? null,
      setsModel: model === undefined ? 0 : 1,
      provider: model?.provider ?? null,
      model: model?.model ?? null,
      baseUrl: model?.baseUrl ?? null,
      archived: flagOf(archived),
      pinned: flagOf(pinned),
    });
  }

  /** The ids of the session's transcripts, the tip first. */
  lineageOf(sessionId: string): readonly string[] {
    return this.#lineage.all(sessionId);
  }

  /** Leaves the rows of a session, their ids and what they were, without what a person wrote. */
  delete(sessionId: string, at: string): void {
    this.#empty.run(JSON.stringify(this.lineageOf(sessionId)));
    this.#markDeleted.run({ id: sessionId, at });
    this.#noteDeletion.run(sessionId);
  }

  raiseRevision(sessionId: string): void {
    this.#raiseRevision.run(sessionId);
  }

  countMessages(transcriptId: string, more: number): void {
    if (more !== 0) this.#countMessages.run(more, transcriptId);
  }
}

function flagOf(value: boolean | undefined): number | null {
  return value === undefined ? null : Number(value);
}

interface UpdateFields {
  readonly session: string;
  readonly setsTitle: number;
  readonly title: string | null;
  readonly setsModel: number;
  readonly provider: string | null;
  readonly model: string | null;
  readonly baseUrl: string | null;
  readonly archived: number | null;
  readonly pinned: number | null;
}

interface RootFields {
  readonly id: string;
  readonly revision: number;
  readonly execution_generation: number;
  readonly transcript_count: number;
  readonly compression_count: number;
  readonly breaker_failures: number;
}

interface ChildFields {
  readonly id: string;
  readonly parent: string;
  readonly root: string;
  readonly at: string;
}

interface HoldFields {
  readonly session: string;
  readonly reason: string | null;
  readonly until: string | null;
  readonly by: string | null;
  readonly at: string | null;
}

interface LineageFields {
  readonly session: string;
  readonly tip: string;
  readonly length: number;
  readonly compressions: number;
  readonly failures: number;
  readonly openUntil: string | null;
  readonly reason: string | null;
  readonly recent: string;
}
