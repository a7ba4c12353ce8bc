import type { Command } from './commands.ts';
import { accepted, sessionEvent } from './decision.ts';
import type { DecideContext, Verdict } from './decision.ts';
import type { SessionState } from './state.ts';

/** Pauses the queue: what runs goes on, nothing more is claimed. A later hold replaces an earlier one. */
export function decideHold(
  _state: SessionState,
  command: Command<'hold'>,
  context: DecideContext,
): Verdict<{ revision: number }> {
  const hold = { ...command.hold, at: context.now };
  return accepted([sessionEvent({ type: 'session.held', hold })], (after) => ({ revision: after.revision }));
}

/** Ends a hold; without one it changes nothing. It never lifts an unknown turn. */
export function decideRelease(state: SessionState, command: Command<'release'>): Verdict<{ revision: number }> {
  const events = state.hold === null ? [] : [sessionEvent({ type: 'session.released', by: command.by })];
  return accepted(events, (after) => ({ revision: after.revision }));
}
