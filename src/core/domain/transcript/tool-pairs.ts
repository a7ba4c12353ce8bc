import type { MessageMeta } from './message.ts';

/** The results of the calls that one message asks for, by call id. */
export type ResultsOf<M extends MessageMeta> = ReadonlyMap<string, M>;

/**
 * Which result belongs to which call. Some models use an id again in a later step, so ids alone don't tell: a result
 * belongs to the latest message before it that asks for its id and has no result for it yet.
 *
 * Answers a map from each asking message to its results; a call without one is open.
 */
export function pairToolCalls<M extends MessageMeta>(messages: readonly M[]): ReadonlyMap<M, ResultsOf<M>> {
  const results = new Map<M, Map<string, M>>();
  const latestAsker = new Map<string, M>();
  for (const message of messages) {
    if (message.toolCallIds.length > 0) results.set(message, new Map());
    for (const callId of message.toolCallIds) latestAsker.set(callId, message);
    if (message.toolCallId === null) continue;
    const asker = latestAsker.get(message.toolCallId);
    const ofAsker = asker === undefined ? undefined : results.get(asker);
    if (ofAsker?.has(message.toolCallId) === false) ofAsker.set(message.toolCallId, message);
  }
  return results;
}

/** The calls of a transcript that have no result yet, oldest first. */
export function openToolCalls(messages: readonly MessageMeta[]): readonly string[] {
  const results = pairToolCalls(messages);
  return messages.flatMap((message) => message.toolCallIds.filter((id) => !results.get(message)?.has(id)));
}
