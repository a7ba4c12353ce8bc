import type { Admission } from '../admission/admission.ts';
import { isBefore } from '../instant.ts';
import type { Command, ReplyOf } from '../session/commands.ts';
import { accepted, admissionEvent, refused } from '../session/decision.ts';
import type { DecideContext, UnnumberedEvent, Verdict } from '../session/decision.ts';
import { startedAdmission } from '../session/state.ts';
import type { SessionState } from '../session/state.ts';
import { appendedEvents, toolNote } from '../turn/close-turn.ts';
import type { Approval, ApprovalResolution, ClosingReason } from './approval.ts';

/**
 * Takes the first answer to a request for approval. An approved call is started in the same append: its intent is
 * durable with the answer, and never before it. A denied one has its result at once, and the turn goes on.
 */
export function decideRespondApproval(
  state: SessionState,
  command: Command<'respond_approval'>,
  context: DecideContext,
): Verdict<ReplyOf<'respond_approval'>> {
  const { answer, by } = command;
  const approval = openApproval(state, command.approvalId);
  const turn = startedAdmission(state);
  if (approval === undefined || turn?.ownerEpoch !== context.epoch) {
    return refused({ reason: 'approval_closed', approval: null });
  }
  if (!isBefore(context.now, approval.expiresAt)) {
    return refused({ reason: 'approval_closed', approval: { ...approval, resolution: expired(approval.expiresAt) } });
  }
  const decision = answer === 'approve' ? 'approved' : 'denied';
  const resolution: ApprovalResolution = { decision, by, reason: null, at: context.now };
  const { callId, name } = approval;
  const consequence =
    answer === 'approve'
      ? [admissionEvent(turn, { type: 'tool.started', callId, name })]
      : resultOf(turn, approval, '[The call was not made: it was denied.]', context);
  return accepted([resolvedEvent(turn, approval, resolution), ...consequence], () => ({ ...approval, resolution }));
}

/** Ends a request that nobody has answered in time. */
export function decideExpireApproval(
  state: SessionState,
  command: Command<'expire_approval'>,
  context: DecideContext,
): Verdict<null> {
  const approval = openApproval(state, command.approvalId);
  const turn = startedAdmission(state);
  if (approval === undefined || turn?.ownerEpoch !== context.epoch) {
    return refused({ reason: 'approval_closed', approval: null });
  }
  const resolution = expired(context.now);
  const result = resultOf(turn, approval, '[The call was not made: it was not approved in time.]', context);
  return accepted([resolvedEvent(turn, approval, resolution), ...result], () => null);
}

/**
 * Closes every open request of a turn that goes no further, so that nobody answers to nothing. One whose time was over
 * has expired: somebody who answered too late may have been told so.
 */
export function closedApprovals(
  state: SessionState,
  turn: Admission,
  why: { readonly reason: ClosingReason; readonly by: string },
  context: DecideContext,
): readonly UnnumberedEvent[] {
  const closed: ApprovalResolution = { decision: 'closed', ...why, at: context.now };
  return state.approvals.map((approval) => {
    const inTime = isBefore(context.now, approval.expiresAt);
    return resolvedEvent(turn, approval, inTime ? closed : expired(context.now));
  });
}

function expired(at: string): ApprovalResolution {
  return { decision: 'expired', by: 'gateway', reason: null, at };
}

function openApproval(state: SessionState, approvalId: string): Approval | undefined {
  return state.approvals.find((approval) => approval.approvalId === approvalId);
}

function resolvedEvent(turn: Admission, approval: Approval, resolution: ApprovalResolution): UnnumberedEvent {
  const { approvalId, callId, name } = approval;
  const { decision, by, reason } = resolution;
  return admissionEvent(turn, { type: 'approval.resolved', approvalId, callId, name, decision, by, reason });
}

function resultOf(
  turn: Admission,
  { callId }: Approval,
  text: string,
  context: DecideContext,
): readonly UnnumberedEvent[] {
  const at = { ...context, step: turn.step, contextTokens: null, boundary: null };
  return appendedEvents(turn, [toolNote(turn, callId, text)], at);
}
