import { approvalAnswers } from '../approval/approval.ts';
import { addSeconds } from '../instant.ts';
import { invariant } from '../invariant.ts';
import type { Command } from '../session/commands.ts';
import { accepted, admissionEvent } from '../session/decision.ts';
import type { DecideContext, Verdict } from '../session/decision.ts';
import type { SessionState } from '../session/state.ts';
import { appendedEvents } from './close-turn.ts';
import { withRunningTurn, withUnstoppedTurn } from './running.ts';

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

/** Stores what a step brought when the turn goes on after it: calls start with it, or ask for an approval first. */
export function decideAppend(state: SessionState, command: Command<'append'>, context: DecideContext): Verdict<null> {
  return withUnstoppedTurn(state, command.executionGeneration, context, (admission) => {
    const at = { ...context, step: command.step, contextTokens: command.contextTokens, boundary: null };
    const starts = command.startedCalls.map(({ callId, name }) =>
      admissionEvent(admission, { type: 'tool.started', callId, name }),
    );
    const expiresAt = addSeconds(context.now, command.approvalSeconds);
    const requests = command.askedCalls.map((asked) =>
      admissionEvent(admission, {
        type: 'approval.requested',
        ...asked,
        messageId: context.nextMessageId,
        options: approvalAnswers,
        expiresAt,
      }),
    );
    return accepted([...appendedEvents(admission, command.messages, at), ...starts, ...requests], () => null);
  });
}

/** Stores the end of a call: what it came to, and its result as the model will read it. */
export function decideFinishCall(
  state: SessionState,
  command: Command<'finish_call'>,
  context: DecideContext,
): Verdict<null> {
  return withRunningTurn(state, command.executionGeneration, context, (admission) => {
    const { callId, name, result, message, step } = command;
    invariant(message.toolCallId === callId, 'the result names its call');
    const at = { ...context, step, contextTokens: null, boundary: null };
    const finished = admissionEvent(admission, { type: 'tool.finished', callId, name, result });
    return accepted([finished, ...appendedEvents(admission, [message], at)], () => null);
  });
}
