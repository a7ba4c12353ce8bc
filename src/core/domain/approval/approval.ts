/** What somebody may answer to a request for approval. */
export const approvalAnswers = ['approve', 'deny'] as const;
export type ApprovalAnswer = (typeof approvalAnswers)[number];

/** A call that waits for somebody's answer. Its tool was not started, and nothing of it counts as begun. */
export interface Approval {
  readonly approvalId: string;
  readonly admissionId: string;
  readonly executionGeneration: number;
  /** The message that asks for the call; its arguments are there. */
  readonly messageId: number;
  readonly callId: string;
  readonly name: string;
  readonly options: readonly ApprovalAnswer[];
  readonly requestedAt: string;
  readonly expiresAt: string;
}

/** Why a request was closed that nobody has answered and whose time was not over. */
export type ClosingReason = 'stop_requested' | 'turn_ended' | 'owner_lost';

export interface ApprovalResolution {
  readonly decision: 'approved' | 'denied' | 'expired' | 'closed';
  /** The principal that answered or stopped the turn, or `gateway`. */
  readonly by: string;
  /** Only where the decision is `closed`. */
  readonly reason: ClosingReason | null;
  readonly at: string;
}

export interface ResolvedApproval extends Approval {
  readonly resolution: ApprovalResolution;
}
