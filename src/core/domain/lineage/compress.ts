import type { Command, ReplyOf } from '../session/commands.ts';
import { accepted, admissionEvent, refused, sessionEvent } from '../session/decision.ts';
import type { DecideContext, UnnumberedEvent, Verdict } from '../session/decision.ts';
import { receiptOf } from '../admission/receipt.ts';
import type { CarriedMessage, CompressionResult, SessionEventBody } from '../session/events.ts';
import { occupant } from '../session/state.ts';
import type { SessionState } from '../session/state.ts';
import { messageFrom } from '../transcript/message.ts';
import type { MessageMeta } from '../transcript/message.ts';
import { withUnstoppedTurn } from '../turn/running.ts';
import { completeCompression } from './lineage.ts';
import type { OpenCompression } from './lineage.ts';

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
 * Starts a compression by hand, which holds the queue like a turn. Followers may wait; a turn that is started or unknown
 * refuses it, for its transcript isn't finished.
 */
export function decideCompressByHand(
  state: SessionState,
  command: Command<'compress_by_hand'>,
  context: DecideContext,
): Verdict<ReplyOf<'compress_by_hand'>> {
  if (context.draining) return refused({ reason: 'draining' });
  const turn = occupant(state);
  if (turn !== undefined || state.lineage.open !== null) {
    return refused({ reason: 'session_busy', receipt: turn === undefined ? null : receiptOf(state, turn, true) });
  }
  const { compressionId, tokensBefore, request } = command;
  const executionGeneration = state.executionGeneration + 1;
  const started: UnnumberedEvent = {
    type: 'compression.started',
    compressionId,
    trigger: 'manual',
    tokensBefore,
    request,
    admissionId: null,
    executionGeneration,
  };
  return accepted([started], () => ({ executionGeneration }));
}

/**
 * Commits a compression in one append (P7). It is refused when the transcript is no longer the one that was planned on
 * or it was asked to stop; then everything is as it was (P9).
 */
export function decideRotate(state: SessionState, command: Command<'rotate'>, context: DecideContext): Verdict<null> {
  const { open } = state.lineage;
  if (open?.trigger === 'manual') {
    return open.epoch === context.epoch ? rotation(state, open, command, context) : refused({ reason: 'tip_moved' });
  }
  return withUnstoppedTurn(state, command.executionGeneration, context, () => rotation(state, open, command, context));
}

function rotation(
  state: SessionState,
  open: OpenCompression | null,
  command: Command<'rotate'>,
  context: DecideContext,
): Verdict<null> {
  if (open?.compressionId !== command.compressionId || !coversTip(state, command.plan)) {
    return refused({ reason: 'tip_moved' });
  }
  return accepted([compressionEvent(open, rotated(state, open, command, context))], () => null);
}

function compressionEvent(
  { admissionId, executionGeneration }: OpenCompression,
  body: SessionEventBody,
): UnnumberedEvent {
  return { ...body, admissionId, executionGeneration };
}

/** Says that the open compression came to nothing. The turn goes on or fails for itself. */
export function decideFailCompression(state: SessionState, command: Command<'fail_compression'>): Verdict<null> {
  const { open } = state.lineage;
  if (open?.compressionId !== command.compressionId) return refused({ reason: 'tip_moved' });
  const { compressionId, failure, usage, opensBreaker } = command;
  const failed = { type: 'compression.failed', compressionId, failure, usage, opensBreaker } as const;
  return accepted([open.trigger === 'manual' ? compressionEvent(open, failed) : sessionEvent(failed)], () => null);
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
  open: OpenCompression,
  command: Command<'rotate'>,
  context: DecideContext,
): SessionEventBody {
  const { plan, childTranscript } = command;
  const byId = new Map(state.messages.map((message) => [message.id, message]));
  const pick = (ids: readonly number[]): MessageMeta[] => ids.flatMap((id) => byId.get(id) ?? []);
  const headCount = childTranscript === null ? 0 : plan.head.length;
  const summaryId = context.nextMessageId + headCount;
  const { compressionId, trigger } = open;
  const parentId = state.lineage.tipId;
  const childId = childTranscript ?? parentId;
  const { breaker } = completeCompression(state.lineage, { compressionId, parentId, childId, at: context.now });
  const result: CompressionResult = {
    compressionId,
    trigger,
    parentTranscript: parentId,
    childTranscript: childId,
    head: childTranscript === null ? [] : carriedFrom(pick(plan.head), context.nextMessageId),
    summary: messageFrom(command.summary, summaryId, context.now),
    tail: carriedFrom(pick(plan.tail), summaryId + 1),
    retired: childTranscript === null ? [...plan.middle, ...plan.tail] : [],
    tokensBefore: command.tokensBefore,
    tokensAfter: command.tokensAfter,
    model: command.model,
    usage: command.usage,
    opensBreaker: breaker.openUntil !== null,
  };
  return { type: 'compression.completed', ...result };
}

function carriedFrom(messages: readonly MessageMeta[], firstId: number): readonly CarriedMessage[] {
  return messages.map((message, index) => ({ fromId: message.id, message: { ...message, id: firstId + index } }));
}
