import { failed, result } from './answer.ts';
import { approvalResolutionToWire, openApprovalsToWire } from './approval-to-wire.ts';
import type { RpcDependencies } from './dependencies.ts';
import type { HandlersOf } from './handler.ts';
import { answerOf } from './refusal-to-wire.ts';

/** Tool calls that wait for somebody's answer. */
export function makeApprovalHandlers(deps: RpcDependencies): HandlersOf<'approval'> {
  return {
    'approval.respond': async ({ session_id, approval_id, answer }, { principal }) => {
      const by = principal.principalId;
      const sent = await deps.respondApproval({ sessionId: session_id, approvalId: approval_id, answer, by });
      return answerOf(sent, ({ approval, duplicate }) => ({
        session_id,
        approval_id,
        call_id: approval.callId,
        name: approval.name,
        resolution: approvalResolutionToWire(approval.resolution),
        duplicate,
      }));
    },

    'approval.list': async ({ session_id, limit }, { principal }) => {
      if (session_id !== undefined && (await deps.queries.findSession(session_id)) === null) {
        return failed('not_found', { what: 'session' });
      }
      const of = session_id === undefined ? { principalId: principal.principalId } : { sessionId: session_id };
      const open = await deps.queries.openApprovals({ of, limit: limit + 1 });
      return result({ approvals: openApprovalsToWire(open.slice(0, limit)), more: open.length > limit });
    },
  };
}
