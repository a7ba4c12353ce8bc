import type { Command, ReplyOf } from '../session/commands.ts';
import type { OpenCompression } from '../lineage/lineage.ts';
import { failureOf } from '../model/failure.ts';
import { accepted, admissionEvent, refused } from '../session/decision.ts';
import type { DecideContext, UnnumberedEvent, Verdict } from '../session/decision.ts';
import { receiptOf } from '../admission/receipt.ts';
import { closedApprovals } from '../approval/resolve-approval.ts';
import { occupant } from '../session/state.ts';
import type { SessionState } from '../session/state.ts';

/**
 * Asks the running turn to stop, or ends the compression by hand of this generation: it has nothing to be waited for,
 * since its summary changes nothing before it is committed. Accepted once the request is durable; from then on the turn
 * never ends `completed` (P5), and its open requests for approval are closed. Idempotent while the turn runs, and it
 * never reaches a turn of another generation.
 */
export function decideInterrupt(
  state: SessionState,
  command: Command<'interrupt'>,
  context: DecideContext,
): Verdict<ReplyOf<'interrupt'>> {
  const { executionGeneration, by } = command;
  const byHand = state.lineage.open;
  if (byHand?.trigger === 'manual' && byHand.executionGeneration === executionGeneration) {
    return accepted([stopped(byHand, by)], () => ({ executionGeneration, admissionId: null }));
  }
  const turn = occupant(state);
  if (executionGeneration > state.executionGeneration) {
    return refused({ reason: 'stale_generation', executionGeneration: state.executionGeneration });
  }
  if (turn?.executionGeneration !== executionGeneration) {
    return refused({ reason: 'turn_over', executionGeneration: state.executionGeneration });
  }
  if (turn.status === 'unknown') {
    return refused({ reason: 'unknown_execution', receipt: receiptOf(state, turn, true) });
  }
  if (turn.stopRequested !== null) return accepted([], () => ({ executionGeneration, admissionId: turn.admissionId }));
  const events = [
    admissionEvent(turn, { type: 'turn.stop_requested', by }),
    ...closedApprovals(state, turn, { reason: 'stop_requested', by }, context),
  ];
  return accepted(events, () => ({ executionGeneration, admissionId: turn.admissionId }));
}

function stopped({ compressionId, executionGeneration }: OpenCompression, by: string): UnnumberedEvent {
  return {
    type: 'compression.failed',
    compressionId,
    failure: failureOf('aborted', `The compression was stopped by ${by}.`, { retryable: true }),
    usage: null,
    opensBreaker: false,
    admissionId: null,
    executionGeneration,
  };
}
