import type { Admission } from '../admission/admission.ts';
import { closedApprovals } from '../approval/resolve-approval.ts';
import { endedSteers } from '../admission/steer.ts';
import type { Command, ReplyOf } from '../session/commands.ts';
import { accepted, admissionEvent, sessionEvent } from '../session/decision.ts';
import type { DecideContext, UnnumberedEvent, Verdict } from '../session/decision.ts';
import type { Failure } from '../model/failure.ts';
import { outageHold } from '../session/hold.ts';
import { queueHead } from '../session/state.ts';
import type { SessionState } from '../session/state.ts';
import { invariant } from '../invariant.ts';
import { appendedEvents, closeTurn } from './close-turn.ts';
import { withRunningTurn } from './running.ts';

/**
 * Ends the running turn: the last message, the usage and the outcome in one append.
 *
 * A turn that was asked to stop before its answer was appended ends `interrupted`, whatever the caller says.
 */
export function decideSettle(
  state: SessionState,
  command: Command<'settle'>,
  context: DecideContext,
): Verdict<ReplyOf<'settle'>> {
  return withRunningTurn(state, command.executionGeneration, context, (admission) => {
    const stopped = admission.stopRequested !== null;
    const outcome = stopped ? 'interrupted' : command.outcome;
    const messages =
      outcome === 'completed'
        ? answered(admission, command, context)
        : closed(state, admission, command, outcome, context);
    const failure = outcome === 'failed' ? command.failure : null;
    const settled = admissionEvent(admission, {
      type: 'turn.settled',
      outcome,
      failure,
      evidence: null,
      usage: command.usage,
      hidden: failure !== null && isUnsendable(failure, command) ? hiddenMessages(state, admission, messages) : [],
    });
    const steers = endedSteers(state);
    const waits = queueHead(state) !== undefined || steers.some(({ type }) => type === 'admission.requeued');
    const hold = command.holdOnOutage && waits ? outageHold(state, failure, context.now) : null;
    const held = hold === null ? [] : [sessionEvent({ type: 'session.held', hold })];
    const approvals = closedApprovals(state, admission, { reason: 'turn_ended', by: 'gateway' }, context);
    return accepted([...messages, ...approvals, ...steers, settled, ...held], () => ({ outcome }));
  });
}

function answered(
  admission: Admission,
  command: Command<'settle'>,
  context: DecideContext,
): readonly UnnumberedEvent[] {
  invariant(command.answer !== null, 'a completed turn has an answer');
  const { step, contextTokens } = command;
  return appendedEvents(admission, [command.answer], { ...context, step, contextTokens, boundary: null });
}

function closed(
  state: SessionState,
  admission: Admission,
  command: Command<'settle'>,
  outcome: 'failed' | 'interrupted',
  context: DecideContext,
): readonly UnnumberedEvent[] {
  const ending = outcome === 'failed' ? 'failed' : 'stopped';
  return closeTurn(state, admission, { ending, partial: command.answer }, context);
}

/**
 * Whether a later request with this prompt in it would be refused for the same reason: it doesn't fit, a filter doesn't let
 * it pass, or the provider can't read it, of which images and files are the usual cause.
 */
function isUnsendable({ reason }: Failure, { promptHasMedia = false }: Command<'settle'>): boolean {
  if (reason === 'bad_request') return promptHasMedia;
  return reason === 'context_exhausted' || reason === 'payload_too_large' || reason === 'content_filtered';
}

/**
 * A prompt that can't be sent leaves the transcript with its note, so that it never bricks the session. A turn that got
 * further than its prompt, or was answered in part, keeps what it did.
 */
function hiddenMessages(
  state: SessionState,
  admission: Admission,
  closing: readonly UnnumberedEvent[],
): readonly number[] {
  const own = state.messages.filter((message) => message.admissionId === admission.admissionId);
  if (own.length !== 1 || own[0]?.id !== admission.promptMessageId) return [];
  const ending = closing.flatMap((event) => (event.type === 'message.appended' ? [event.message] : []));
  return ending.every(({ kind }) => kind === 'note') ? [own[0].id, ...ending.map(({ id }) => id)] : [];
}
