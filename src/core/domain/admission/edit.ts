import type { Command } from '../session/commands.ts';
import { accepted, admissionEvent, refused } from '../session/decision.ts';
import type { DecideContext, Verdict } from '../session/decision.ts';
import type { SessionState } from '../session/state.ts';
import { editAdmission } from './admission.ts';
import { withQueued } from './find.ts';
import { receiptOf } from './receipt.ts';
import type { Receipt } from './receipt.ts';
import { unsupportedParts } from './unsupported-parts.ts';

/** Gives a prompt that waits other content. The same content again changes nothing. */
export function decideEdit(state: SessionState, command: Command<'edit'>, context: DecideContext): Verdict<Receipt> {
  const { payload, payloadDigest } = command;
  return withQueued(state, command, (admission) => {
    const parts = unsupportedParts(payload.parts, () => context.limits.takes?.(state.profile) ?? {});
    if (parts.length > 0) return refused({ reason: 'unsupported_parts', parts });
    if (admission.payloadDigest === payloadDigest) return accepted([], (after) => receiptOf(after, admission, false));
    const edited = editAdmission(admission, payloadDigest);
    return accepted([admissionEvent(admission, { type: 'admission.edited', payload, payloadDigest })], (after) =>
      receiptOf(after, edited, false),
    );
  });
}
