import type { Command } from './commands.ts';
import { accepted, sessionEvent } from './decision.ts';
import type { DecideContext, Verdict } from './decision.ts';
import { addSeconds } from '../instant.ts';
import type { Failure } from '../model/failure.ts';
import { passes } from '../model/outage.ts';
import type { Hold, SessionState } from './state.ts';

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
  const { by, until } = command;
  const applies = state.hold !== null && (until === null || state.hold.until === until);
  const events = applies ? [sessionEvent({ type: 'session.released', by })] : [];
  return accepted(events, (after) => ({ revision: after.revision }));
}

/** How long a queue waits after an outage that passes by itself, when the provider doesn't say, in seconds. */
const outageSeconds = 60;

/** The hold that keeps an outage from burning a queue in which somebody waits; null when the failure is the prompt's own. */
export function outageHold(state: SessionState, failure: Failure | null, now: string): Hold | null {
  if (failure === null || passes(failure) === null || state.hold !== null) return null;
  const waitSeconds = Math.max(outageSeconds, Math.ceil((failure.retryAfterMs ?? 0) / 1000));
  return {
    reason: `outage:${failure.reason}`,
    until: passes(failure) === true ? addSeconds(now, waitSeconds) : null,
    by: 'gateway',
    at: now,
  };
}
