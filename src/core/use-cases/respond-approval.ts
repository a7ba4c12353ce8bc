import type { ApprovalAnswer, ResolvedApproval } from '../domain/approval/approval.ts';
import type { SessionQueries } from '../ports/session-queries.ts';
import type { Sent, Sessions } from './sessions.ts';

interface RespondApprovalInput {
  readonly sessionId: string;
  readonly approvalId: string;
  readonly answer: ApprovalAnswer;
  readonly by: string;
}

export interface ApprovalResponse {
  readonly approval: ResolvedApproval;
  /** Whether this answer repeats one that has won. */
  readonly duplicate: boolean;
}

/**
 * Answers a request for approval. The first answer wins, and its sender may repeat it for ever; every other one is
 * refused with what was decided.
 */
export type RespondApproval = (input: RespondApprovalInput) => Promise<Sent<ApprovalResponse>>;

export function makeRespondApproval(deps: {
  readonly sessions: Sessions;
  readonly queries: Pick<SessionQueries, 'findApproval'>;
}): RespondApproval {
  return async ({ sessionId, approvalId, answer, by }) => {
    const sent = await deps.sessions.send(sessionId, { kind: 'respond_approval', approvalId, answer, by });
    if (sent.kind === 'done') return { kind: 'done', reply: { approval: sent.reply, duplicate: false } };
    if (sent.kind !== 'refused' || sent.refusal.reason !== 'approval_closed' || sent.refusal.approval !== null) {
      return sent;
    }
    const { resolution = null, ...approval } = (await deps.queries.findApproval(sessionId, approvalId)) ?? {};
    if (!('approvalId' in approval) || resolution === null) {
      return { kind: 'refused', refusal: { reason: 'not_found', what: 'approval' } };
    }
    const resolved = { ...approval, resolution };
    const decision = answer === 'approve' ? 'approved' : 'denied';
    if (resolution.by === by && resolution.decision === decision) {
      return { kind: 'done', reply: { approval: resolved, duplicate: true } };
    }
    return { kind: 'refused', refusal: { reason: 'approval_closed', approval: resolved } };
  };
}
