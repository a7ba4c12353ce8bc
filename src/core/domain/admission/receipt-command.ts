import type { Command } from '../session/commands.ts';
import { accepted } from '../session/decision.ts';
import type { Verdict } from '../session/decision.ts';
import type { SessionState } from '../session/state.ts';
import { withAdmission } from './find.ts';
import { receiptOf } from './receipt.ts';
import type { Receipt } from './receipt.ts';

/** The receipt of an admission, for ever. */
export function decideReceipt(state: SessionState, command: Command<'receipt'>): Verdict<Receipt> {
  return withAdmission(state, command.key, command.known, (admission) =>
    accepted([], (after) => receiptOf(after, admission, true)),
  );
}
