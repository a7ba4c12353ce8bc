import { invariant } from '../invariant.ts';
import type { Command } from '../session/commands.ts';
import { accepted } from '../session/decision.ts';
import type { DecideContext, Verdict } from '../session/decision.ts';
import type { SessionState } from '../session/state.ts';
import { appendedEvents } from './close-turn.ts';
import { withUnstoppedTurn } from './running.ts';

/** Makes the boundary `model` durable, together with the prompt's message, just before the first request. */
export function decideDispatch(
  state: SessionState,
  command: Command<'dispatch'>,
  context: DecideContext,
): Verdict<null> {
  return withUnstoppedTurn(state, command.executionGeneration, context, (admission) => {
    invariant(admission.promptMessageId === null, 'a turn stores its prompt once');
    const at = { ...context, step: 1, contextTokens: null, boundary: 'model' as const };
    return accepted(appendedEvents(admission, [command.prompt], at), () => null);
  });
}

/** Stores what a step brought, when the turn goes on after it. */
export function decideAppend(state: SessionState, command: Command<'append'>, context: DecideContext): Verdict<null> {
  return withUnstoppedTurn(state, command.executionGeneration, context, (admission) => {
    const at = { ...context, step: command.step, contextTokens: command.contextTokens, boundary: null };
    return accepted(appendedEvents(admission, command.messages, at), () => null);
  });
}
