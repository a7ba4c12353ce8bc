import type Database from 'better-sqlite3';
import type { Admission, PromptPayload } from '../../../core/domain/admission/admission.ts';
import type { AdmissionKey } from '../../../core/domain/session/commands.ts';
import type { StoredPayload } from '../../../core/ports/ledger.ts';
import { admissionColumns, admissionFromRow, admissionToRow } from './admission-row.ts';
import type { AdmissionRow } from './admission-row.ts';
import { fromJson, toJson } from './json-column.ts';

const insertSql = `INSERT INTO session_admissions (${admissionColumns}, payload) VALUES (
  @seq, @admission_id, @request_id, @target_session_id, @principal_id, @position, @revision, @status, @outcome,
  @delivery, @owner_epoch, @execution_generation, @boundary, @step, @requeue_count, @prompt_message_id,
  @stop_requested_by, @stop_requested_at, @accepted_at, @started_at, @settled_at, @request_digest, @payload_digest,
  @retried_by, @resolution, @evidence, @failure, @steers_generation, @if_over, @merged_into, @payload)`;

/** What a client changes of a prompt that waits: its place and its content. */
const updateQueuedSql = `UPDATE session_admissions SET position = @position, payload_digest = @payload_digest,
  revision = @revision, payload = coalesce(@payload, payload) WHERE admission_id = @admission_id`;

/** Everything that a step of an admission's life may change. Its identity is not among it, nor is its place. */
const updateLifeSql = `UPDATE session_admissions SET revision = @revision, status = @status, outcome = @outcome,
  owner_epoch = @owner_epoch, execution_generation = @execution_generation, boundary = @boundary, step = @step,
  requeue_count = @requeue_count, prompt_message_id = @prompt_message_id, stop_requested_by = @stop_requested_by,
  stop_requested_at = @stop_requested_at, started_at = @started_at, settled_at = @settled_at,
  delivery = @delivery, merged_into = @merged_into, retried_by = @retried_by, resolution = @resolution, evidence = @evidence, failure = @failure
  WHERE admission_id = @admission_id`;

/** What a message of its turn changes: no index holds these columns, so that a step writes only the row. */
const updateProgressSql = `UPDATE session_admissions
  SET boundary = @boundary, step = @step, prompt_message_id = @prompt_message_id WHERE admission_id = @admission_id`;

/** The admissions of all sessions, one row for each, for ever. */
export class AdmissionsTable {
  readonly #insert: Database.Statement<[AdmissionRow & { readonly payload: string }]>;
  readonly #updateLife: Database.Statement<[AdmissionRow]>;
  readonly #updateQueued: Database.Statement<[AdmissionRow & { readonly payload: string | null }]>;
  readonly #forgetPayloads: Database.Statement<[string]>;
  readonly #updateProgress: Database.Statement<[AdmissionRow]>;
  readonly #byId: Database.Statement<[string], AdmissionRow>;
  readonly #byIds: Database.Statement<[string], AdmissionRow>;
  readonly #byRequest: Database.Statement<[string, string, string], AdmissionRow>;
  readonly #open: Database.Statement<[string], AdmissionRow>;
  readonly #payload: Database.Statement<[string], { readonly payload: string | null; readonly payload_digest: string }>;
  readonly #lastSeq: Database.Statement<[], number | null>;

  constructor(db: Database.Database) {
    const select = `SELECT ${admissionColumns} FROM session_admissions`;
    this.#insert = db.prepare(insertSql);
    this.#updateLife = db.prepare(updateLifeSql);
    this.#updateQueued = db.prepare(updateQueuedSql);
    this.#forgetPayloads = db.prepare(
      "UPDATE session_admissions SET payload = NULL WHERE target_session_id = ? AND status = 'terminal'",
    );
    this.#updateProgress = db.prepare(updateProgressSql);
    this.#byId = db.prepare(`${select} WHERE admission_id = ?`);
    this.#byIds = db.prepare(`${select} WHERE admission_id IN (SELECT value FROM json_each(?))`);
    this.#byRequest = db.prepare(`${select} WHERE request_id = ? AND target_session_id = ? AND principal_id = ?`);
    this.#open = db.prepare(`${select} WHERE target_session_id = ? AND status <> 'terminal' ORDER BY position, seq`);
    this.#payload = db.prepare('SELECT payload, payload_digest FROM session_admissions WHERE admission_id = ?');
    this.#lastSeq = db.prepare<[], number | null>('SELECT max(seq) FROM session_admissions').pluck();
  }

  insert(admission: Admission, payload: PromptPayload): void {
    this.#insert.run({ ...admissionToRow(admission), payload: JSON.stringify(payload) });
  }

  updateLife(admission: Admission): void {
    this.#updateLife.run(admissionToRow(admission));
  }

  updateProgress(admission: Admission): void {
    this.#updateProgress.run(admissionToRow(admission));
  }

  /** Without a payload the stored one stays. */
  updateQueued(admission: Admission, payload: PromptPayload | null): void {
    this.#updateQueued.run({ ...admissionToRow(admission), payload: toJson(payload) });
  }

  /** Removes what the settled prompts of a session said. */
  forgetPayloads(sessionId: string): void {
    this.#forgetPayloads.run(sessionId);
  }

  byId(admissionId: string): Admission | null {
    const row = this.#byId.get(admissionId);
    return row === undefined ? null : admissionFromRow(row);
  }

  byIds(admissionIds: readonly string[]): readonly Admission[] {
    return admissionIds.length === 0 ? [] : this.#byIds.all(JSON.stringify(admissionIds)).map(admissionFromRow);
  }

  byKey(sessionId: string, key: AdmissionKey): Admission | null {
    if ('inputId' in key) {
      const row = this.#byRequest.get(key.inputId, sessionId, key.principalId);
      return row === undefined ? null : admissionFromRow(row);
    }
    const admission = this.byId(key.admissionId);
    return admission?.sessionId === sessionId ? admission : null;
  }

  /** In queue order. */
  open(sessionId: string): readonly Admission[] {
    return this.#open.all(sessionId).map(admissionFromRow);
  }

  payloadOf(admissionId: string): StoredPayload | null {
    const row = this.#payload.get(admissionId);
    const payload = fromJson<PromptPayload>(row?.payload ?? null);
    return row === undefined || payload === null ? null : { payload, payloadDigest: row.payload_digest };
  }

  /** The highest sequence number ever given: rows never go away. */
  lastSeq(): number {
    return this.#lastSeq.get() ?? 0;
  }
}
