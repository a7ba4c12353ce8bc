import type { Command } from '../session/commands.ts';
import { accepted, admissionEvent, refused } from '../session/decision.ts';
import type { DecideContext, Verdict } from '../session/decision.ts';
import type { SessionState } from '../session/state.ts';
import { cancelAdmission } from './admission.ts';
import { withAdmission } from './find.ts';
import { receiptOf } from './receipt.ts';
import type { Receipt } from './receipt.ts';

/** Withdraws a prompt that waits. Idempotent; a prompt that has started is not touched. */
export function decideCancel(
  state: SessionState,
  command: Command<'cancel'>,
  context: DecideContext,
): Verdict<Receipt> {
  return withAdmission(state, command.key, command.known, (admission) => {
    const receipt = receiptOf(state, admission, false);
    if (admission.outcome === 'cancelled') return accepted([], () => receipt);
    if (admission.status !== 'queued') return refused({ reason: 'not_queued', receipt });
    if (command.revision !== null && command.revision !== admission.revision) {
      return refused({ reason: 'revision_conflict', revision: admission.revision, receipt });
    }
    const cancelled = cancelAdmission(admission, context.now);
    return accepted([admissionEvent(admission, { type: 'admission.cancelled' })], (after) =>
      receiptOf(after, cancelled, false),
    );
  });
}
