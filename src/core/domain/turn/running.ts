import type { Admission } from '../admission/admission.ts';
import { refused } from '../session/decision.ts';
import type { DecideContext, Verdict } from '../session/decision.ts';
import { startedAdmission } from '../session/state.ts';
import type { SessionState } from '../session/state.ts';

/** Decides for the turn that runs with this generation in this owner; a command that comes late hits nothing else. */
export function withRunningTurn<R>(
  state: SessionState,
  executionGeneration: number,
  context: DecideContext,
  decide: (admission: Admission) => Verdict<R>,
): Verdict<R> {
  const admission = startedAdmission(state);
  if (admission?.executionGeneration !== executionGeneration || admission.ownerEpoch !== context.epoch) {
    return refused({ reason: 'turn_over', executionGeneration: state.executionGeneration });
  }
  return decide(admission);
}

/** As `withRunningTurn`, for work that an acknowledged stop forbids. */
export function withUnstoppedTurn<R>(
  state: SessionState,
  executionGeneration: number,
  context: DecideContext,
  decide: (admission: Admission) => Verdict<R>,
): Verdict<R> {
  return withRunningTurn(state, executionGeneration, context, (admission) =>
    admission.stopRequested === null ? decide(admission) : refused({ reason: 'stop_requested' }),
  );
}
