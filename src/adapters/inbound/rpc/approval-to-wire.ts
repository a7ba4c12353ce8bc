import type { ApprovalResolution } from '../../../core/domain/approval/approval.ts';
import type { StoredApproval } from '../../../core/ports/session-queries.ts';
import type { WireApprovalResolution, WireOpenApproval } from '../../../protocol/approval.ts';
import { maxShownTextBytes } from '../../../protocol/limits.ts';
import { TextBudget } from './shown-text.ts';

const maxPageBytes = 1024 * 1024;

export function openApprovalsToWire(approvals: readonly StoredApproval[]): WireOpenApproval[] {
  const budget = new TextBudget(maxShownTextBytes, maxPageBytes);
  return approvals.map((approval) => ({
    approval_id: approval.approvalId,
    session_id: approval.sessionId,
    admission_id: approval.admissionId,
    execution_generation: approval.executionGeneration,
    message_id: approval.messageId,
    call_id: approval.callId,
    name: approval.name,
    ...argumentsToWire(approval, budget),
    options: [...approval.options],
    requested_at: approval.requestedAt,
    expires_at: approval.expiresAt,
  }));
}

export function approvalResolutionToWire({ decision, by, reason, at }: ApprovalResolution): WireApprovalResolution {
  return { decision, by, ...(reason === null ? {} : { reason }), at };
}

/** Whoever answers sees what the tool would get: of a key that the model wrote twice, the one that counts. */
function argumentsToWire(
  { arguments: text, argumentsLeftOut }: StoredApproval,
  budget: TextBudget,
): Pick<WireOpenApproval, 'arguments' | 'truncated'> {
  if (argumentsLeftOut) return { arguments: '', truncated: true };
  if (text === null) return { arguments: null };
  const { text: shown, ...cut } = budget.take(text === '' ? '{}' : JSON.stringify(JSON.parse(text)));
  return { arguments: shown, ...cut };
}
