import { describe, expect, test } from 'vitest';
import { openToolCalls, pairToolCalls } from '../../../../../src/core/domain/transcript/tool-pairs.ts';
import type { Message } from '../../../../../src/core/domain/transcript/message.ts';
import { aMessage } from '../../../../support/builders.ts';

const asking = (id: number, ...calls: readonly string[]) =>
  aMessage({ id, role: 'assistant', kind: 'answer', toolCallIds: calls });
/** The ids of each message's results, by call; null for a message that asks for nothing. */
const pairs = (messages: readonly Message[]) => {
  const paired = pairToolCalls(messages);
  const idsOf = (results: ReadonlyMap<string, Message>) =>
    Object.fromEntries([...results].map(([call, { id }]) => [call, id]));
  return messages.map((message) => {
    const results = paired.get(message);
    return results === undefined ? null : idsOf(results);
  });
};
const result = (id: number, toolCallId: string) => aMessage({ id, role: 'tool', kind: 'tool', toolCallId });

describe('a result belongs to', () => {
  test('the message that asks for it', () => {
    expect(pairs([asking(1, 'a', 'b'), result(2, 'b'), result(3, 'a')])).toEqual([{ b: 2, a: 3 }, null, null]);
  });

  test('the latest message that asks for its id, where an id is used again', () => {
    const messages = [asking(1, 'a'), result(2, 'a'), asking(3, 'a'), result(4, 'a')];

    expect(pairs(messages)).toEqual([{ a: 2 }, null, { a: 4 }, null]);
  });

  test('nobody when nobody before it asks for it', () => {
    expect(pairs([result(1, 'a'), asking(2, 'a')])).toEqual([null, {}]);
  });

  test('nobody when it comes a second time: the first one stands', () => {
    expect(pairs([asking(1, 'a'), result(2, 'a'), result(3, 'a')])).toEqual([{ a: 2 }, null, null]);
  });
});

describe('the open calls of a transcript', () => {
  test('are those without a result, oldest first', () => {
    expect(openToolCalls([asking(1, 'a', 'b', 'c'), result(2, 'b')])).toEqual(['a', 'c']);
  });

  test('are none where every call has its result', () => {
    expect(openToolCalls([asking(1, 'a'), result(2, 'a'), asking(3, 'b'), result(4, 'b')])).toEqual([]);
  });

  test('are none in a transcript without calls', () => {
    expect(openToolCalls([aMessage()])).toEqual([]);
  });

  test('hold a call whose id an earlier, answered call has used', () => {
    expect(openToolCalls([asking(1, 'a'), result(2, 'a'), asking(3, 'a')])).toEqual(['a']);
  });
});
