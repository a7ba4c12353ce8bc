import type { MessageMeta } from '../transcript/message.ts';

/** Messages that stay together: a message with calls and all its results, or a single message. */
export type Group = readonly MessageMeta[];

export function groupsOf(messages: readonly MessageMeta[]): readonly Group[] {
  const groups: MessageMeta[][] = [];
  const groupOfCall = new Map<string, MessageMeta[]>();
  for (const message of messages) {
    const asking = message.toolCallId === null ? undefined : groupOfCall.get(message.toolCallId);
    // A result joins its call's group only while that group is the newest: otherwise order would suffer.
    if (asking !== undefined && asking === groups.at(-1)) asking.push(message);
    else groups.push([message]);
    const own = groups.at(-1);
    if (own !== undefined) for (const id of message.toolCallIds) groupOfCall.set(id, own);
  }
  return groups;
}
