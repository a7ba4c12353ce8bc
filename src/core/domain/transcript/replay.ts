import { messagesAfter } from '../session/evolve.ts';
import type { SessionEvent } from '../session/events.ts';
import { metaOf } from './message.ts';
import type { MessageMeta } from './message.ts';
import { openToolCalls, pairToolCalls } from './tool-pairs.ts';

/** The tip's active messages after one more event of the log. Events that change no transcript leave them as they are. */
export function transcriptAfter(messages: readonly MessageMeta[], event: SessionEvent): readonly MessageMeta[] {
  if (event.type === 'message.appended') return [...messages, metaOf(event.message)];
  if (event.type === 'compression.completed') return messagesAfter(messages, event);
  if (event.type !== 'turn.settled' || event.hidden.length === 0) return messages;
  return messages.filter(({ id }) => !event.hidden.includes(id));
}

/**
 * Where a fork at a message ends: behind the step that the message belongs to, so that every call keeps its result. A
 * step whose results never came is left out as a whole, and so is a prompt or a steer that nothing answers: the fork's own
 * prompt would follow it, and two of them in a row are refused by some providers.
 *
 * `transcript` is the list as it was when it first held the message, `following` what joined it afterwards.
 */
export function forkedTranscript(
  transcript: readonly MessageMeta[],
  following: readonly MessageMeta[],
  messageId: number,
): readonly MessageMeta[] {
  const index = transcript.findIndex(({ id }) => id === messageId);
  const behind = [...transcript.slice(index + 1), ...following];
  const taken = transcript.slice(0, index + 1);
  const open = new Set(openToolCalls(taken));
  for (const message of behind) {
    if (message.toolCallId === null || !open.delete(message.toolCallId)) break;
    taken.push(message);
  }
  return withoutLooseEnd(taken);
}

function withoutLooseEnd(messages: readonly MessageMeta[]): readonly MessageMeta[] {
  const results = pairToolCalls(messages);
  const asking = messages.findIndex((message) => message.toolCallIds.some((id) => !results.get(message)?.has(id)));
  const whole = asking < 0 ? messages : messages.slice(0, asking);
  return whole.slice(0, whole.findLastIndex(({ kind }) => kind !== 'prompt' && kind !== 'steer') + 1);
}
