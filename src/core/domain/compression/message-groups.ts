import type { MessageMeta } from '../transcript/message.ts';

/** Messages that stay together: a message with calls, all its results and the steers behind them, or a single one. */
export type Group = readonly MessageMeta[];

export function groupsOf(messages: readonly MessageMeta[]): readonly Group[] {
  const groups: MessageMeta[][] = [];
  const groupOfCall = new Map<string, MessageMeta[]>();
  for (const message of messages) {
    const asking = message.toolCallId === null ? undefined : groupOfCall.get(message.toolCallId);
    // A result joins its call's group only while that group is the newest: otherwise order would suffer.
    const newest = groups.at(-1);
    if (message.kind === 'steer' && newest !== undefined) newest.push(message);
    else if (asking !== undefined && asking === newest) asking.push(message);
    else groups.push([message]);
    const own = groups.at(-1);
    if (own !== undefined) for (const id of message.toolCallIds) groupOfCall.set(id, own);
  }
  return groups;
}
