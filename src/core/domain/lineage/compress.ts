import type { Admission } from '../admission/admission.ts';
import type { Command } from '../session/commands.ts';
import { accepted, admissionEvent, refused, sessionEvent } from '../session/decision.ts';
import type { DecideContext, Verdict } from '../session/decision.ts';
import type { CarriedMessage, CompressionResult } from '../session/events.ts';
import type { SessionState } from '../session/state.ts';
import { messageFrom } from '../transcript/message.ts';
import type { MessageMeta } from '../transcript/message.ts';
import { withUnstoppedTurn } from '../turn/running.ts';

/** Says that a compression begins, before its summary is asked for. Nothing of the transcript changes yet. */
export function decideStartCompression(
  state: SessionState,
  command: Command<'start_compression'>,
  context: DecideContext,
): Verdict<null> {
  return withUnstoppedTurn(state, command.executionGeneration, context, (admission) => {
    if (state.lineage.open !== null) return refused({ reason: 'compression_open' });
    const { compressionId, trigger, tokensBefore } = command;
    return accepted(
      [admissionEvent(admission, { type: 'compression.started', compressionId, trigger, tokensBefore })],
      () => null,
    );
  });
}

/**
 * Commits a compression in one append (P7). It is refused when the transcript is no longer the one that was planned on
 * or the turn was asked to stop; then everything is as it was (P9).
 */
export function decideRotate(state: SessionState, command: Command<'rotate'>, context: DecideContext): Verdict<null> {
  return withUnstoppedTurn(state, command.executionGeneration, context, (admission) => {
    if (state.lineage.open?.compressionId !== command.compressionId || !coversTip(state, command.plan)) {
      return refused({ reason: 'tip_moved' });
    }
    return accepted([rotated(state, admission, command, context)], () => null);
  });
}

/** Says that the open compression came to nothing. The turn goes on or fails for itself. */
export function decideFailCompression(state: SessionState, command: Command<'fail_compression'>): Verdict<null> {
  if (state.lineage.open?.compressionId !== command.compressionId) return refused({ reason: 'tip_moved' });
  const { compressionId, failure, usage, opensBreaker } = command;
  return accepted(
    [sessionEvent({ type: 'compression.failed', compressionId, failure, usage, opensBreaker })],
    () => null,
  );
}

/** Each message of the tip is in exactly one part of the plan, and each part is in order. */
function coversTip(state: SessionState, plan: Command<'rotate'>['plan']): boolean {
  const { head, middle, tail } = plan;
  const planned = [...head, ...middle, ...tail].toSorted((a, b) => a - b);
  const ascends = (ids: readonly number[]): boolean => ids.every((id, index) => id > (ids[index - 1] ?? -Infinity));
  return (
    [head, middle, tail].every(ascends) &&
    head.every((id, index) => state.messages[index]?.id === id) &&
    planned.length === state.messages.length &&
    planned.every((id, index) => state.messages[index]?.id === id)
  );
}

function rotated(
  state: SessionState,
  admission: Admission,
  command: Command<'rotate'>,
  context: DecideContext,
): ReturnType<typeof admissionEvent> {
  const { plan, childTranscript } = command;
  const byId = new Map(state.messages.map((message) => [message.id, message]));
  const pick = (ids: readonly number[]): MessageMeta[] => ids.flatMap((id) => byId.get(id) ?? []);
  const headCount = childTranscript === null ? 0 : plan.head.length;
  const summaryId = context.nextMessageId + headCount;
  const result: CompressionResult = {
    compressionId: command.compressionId,
    trigger: state.lineage.open?.trigger ?? 'preflight',
    parentTranscript: state.lineage.tipId,
    childTranscript: childTranscript ?? state.lineage.tipId,
    head: childTranscript === null ? [] : carriedFrom(pick(plan.head), context.nextMessageId),
    summary: messageFrom(command.summary, summaryId, context.now),
    tail: carriedFrom(pick(plan.tail), summaryId + 1),
    retired: childTranscript === null ? [...plan.middle, ...plan.tail] : [],
    tokensBefore: command.tokensBefore,
    tokensAfter: command.tokensAfter,
    model: command.model,
    usage: command.usage,
  };
  return admissionEvent(admission, { type: 'compression.completed', ...result });
}

function carriedFrom(messages: readonly MessageMeta[], firstId: number): readonly CarriedMessage[] {
  return messages.map((message, index) => ({ fromId: message.id, message: { ...message, id: firstId + index } }));
}
