import type Database from 'better-sqlite3';
import type { Approval, ApprovalAnswer, ApprovalResolution } from '../../../core/domain/approval/approval.ts';
import { invariant } from '../../../core/domain/invariant.ts';
import { pageOf } from '../../../core/domain/transcript/content-page.ts';
import type { StoredApproval } from '../../../core/ports/session-queries.ts';
import { fromJsonList } from './json-column.ts';
import type { QueryReads } from './query-reads.ts';

interface ApprovalRow {
  readonly approval_id: string;
  readonly session_id: string;
  readonly admission_id: string;
  readonly execution_generation: number;
  readonly message_id: number;
  readonly call_id: string;
  readonly name: string;
  readonly options: string;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly decision: string | null;
  readonly decided_by: string | null;
  readonly reason: string | null;
  readonly decided_at: string | null;
}

const columns = `a.approval_id, a.session_id, a.admission_id, a.execution_generation, a.message_id, a.call_id, a.name,
  a.options, a.requested_at, a.expires_at, a.decision, a.decided_by, a.reason, a.decided_at`;

const select = `SELECT ${columns} FROM approvals a`;

/** The requests for approval of all sessions, one row for each, as long as the session is. */
export class ApprovalsTable {
  readonly #request: Database.Statement<[Omit<ApprovalRow, 'decision' | 'decided_by' | 'reason' | 'decided_at'>]>;
  readonly #resolve: Database.Statement<[{ readonly approvalId: string } & ApprovalResolution]>;
  readonly #open: Database.Statement<[string], ApprovalRow>;
  readonly #delete: Database.Statement<[string]>;

  constructor(db: Database.Database) {
    this.#request = db.prepare(
      `INSERT INTO approvals (approval_id, session_id, admission_id, execution_generation, message_id, call_id, name,
         options, requested_at, expires_at)
       VALUES (@approval_id, @session_id, @admission_id, @execution_generation, @message_id, @call_id, @name,
         @options, @requested_at, @expires_at)`,
    );
    this.#resolve = db.prepare(
      `UPDATE approvals SET decision = @decision, decided_by = @by, reason = @reason, decided_at = @at
       WHERE approval_id = @approvalId AND decision IS NULL`,
    );
    this.#open = db.prepare(
      `SELECT ${columns} FROM approvals a WHERE a.session_id = ? AND a.decision IS NULL ORDER BY a.number`,
    );
    this.#delete = db.prepare('DELETE FROM approvals WHERE session_id = ?');
  }

  request(sessionId: string, approval: Approval): void {
    this.#request.run({
      approval_id: approval.approvalId,
      session_id: sessionId,
      admission_id: approval.admissionId,
      execution_generation: approval.executionGeneration,
      message_id: approval.messageId,
      call_id: approval.callId,
      name: approval.name,
      options: JSON.stringify(approval.options),
      requested_at: approval.requestedAt,
      expires_at: approval.expiresAt,
    });
  }

  resolve(approvalId: string, { decision, by, reason, at }: ApprovalResolution): void {
    const { changes } = this.#resolve.run({ approvalId, decision, by, reason, at });
    invariant(changes === 1, 'an approval is resolved once');
  }

  /** Of a session that is deleted. */
  delete(sessionId: string): void {
    this.#delete.run(sessionId);
  }

  /** Oldest first. */
  open(sessionId: string): readonly Approval[] {
    return this.#open.all(sessionId).map(approvalFromRow);
  }
}

export function makeApprovalReads(db: Database.Database): Pick<QueryReads, 'findApproval' | 'openApprovals'> {
  const find = db.prepare<[string, string], ApprovalRow>(`${select} WHERE a.session_id = ? AND a.approval_id = ?`);
  const ofSession = db.prepare<[string, number], ApprovalRow>(
    `${select} WHERE a.session_id = ? AND a.decision IS NULL ORDER BY a.number LIMIT ?`,
  );
  const ofPrincipal = db.prepare<[string, number], ApprovalRow>(
    `${select} JOIN sessions s ON s.id = a.session_id
     WHERE a.decision IS NULL AND s.principal_id = ? ORDER BY a.number LIMIT ?`,
  );
  // The arguments are where the model wrote them: in the message that asks for the call.
  const argumentsOf = db
    .prepare<[number, string], string>(
      `SELECT json_extract(value, '$.arguments') FROM messages m, json_each(m.tool_calls)
       WHERE m.id = ? AND json_extract(value, '$.id') = ? LIMIT 1`,
    )
    .pluck();
  const argumentsIn = (row: ApprovalRow): string | null => argumentsOf.get(row.message_id, row.call_id) ?? null;
  return {
    findApproval(sessionId, approvalId) {
      const row = find.get(sessionId, approvalId);
      return row === undefined ? null : storedFromRow(row, argumentsIn(row));
    },
    openApprovals({ of, limit }) {
      const rows = 'sessionId' in of ? ofSession.all(of.sessionId, limit) : ofPrincipal.all(of.principalId, limit);
      const { rows: shown } = pageOf(withArguments(rows), Infinity, (approval) => approval.arguments?.length ?? 0);
      return [...shown, ...rows.slice(shown.length).map(withoutArguments)];
    },
  };

  function* withArguments(rows: readonly ApprovalRow[]): Iterable<StoredApproval> {
    for (const row of rows) yield storedFromRow(row, argumentsIn(row));
  }
}

function withoutArguments(row: ApprovalRow): StoredApproval {
  return { ...storedFromRow(row, null), argumentsLeftOut: true };
}

function approvalFromRow(row: ApprovalRow): Approval {
  return {
    approvalId: row.approval_id,
    admissionId: row.admission_id,
    executionGeneration: row.execution_generation,
    messageId: row.message_id,
    callId: row.call_id,
    name: row.name,
    options: fromJsonList<ApprovalAnswer>(row.options),
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
  };
}

function storedFromRow(row: ApprovalRow, given: string | null): StoredApproval {
  return {
    ...approvalFromRow(row),
    sessionId: row.session_id,
    arguments: given,
    argumentsLeftOut: false,
    resolution: resolutionFromRow(row),
  };
}

function resolutionFromRow({
  decision,
  decided_by: by,
  reason,
  decided_at: at,
}: ApprovalRow): ApprovalResolution | null {
  if (decision === null || by === null || at === null) return null;
  return {
    decision: decision as ApprovalResolution['decision'], // written from a resolution, like the reason
    by,
    reason: reason as ApprovalResolution['reason'],
    at,
  };
}
