import { describe, expect, test } from 'vitest';
import { openToolCalls, pairToolCalls } from '../../../../../src/core/domain/transcript/tool-pairs.ts';
import { aMessage } from '../../../../support/builders.ts';

const asking = (id: number, ...calls: readonly string[]) =>
  aMessage({ id, role: 'assistant', kind: 'answer', toolCallIds: calls });
const result = (id: number, toolCallId: string) => aMessage({ id, role: 'tool', kind: 'tool', toolCallId });

describe('a result belongs to', () => {
  test('the message that asks for it', () => {
    const messages = [asking(1, 'a', 'b'), result(2, 'b'), result(3, 'a')];

    expect(pairToolCalls(messages)).toEqual(
      new Map([
        [
          1,
          new Map([
            ['b', messages[1]],
            ['a', messages[2]],
          ]),
        ],
      ]),
    );
  });

  test('the latest message that asks for its id, where an id is used again', () => {
    const messages = [asking(1, 'a'), result(2, 'a'), asking(3, 'a'), result(4, 'a')];

    expect(pairToolCalls(messages)).toEqual(
      new Map([
        [1, new Map([['a', messages[1]]])],
        [3, new Map([['a', messages[3]]])],
      ]),
    );
  });

  test('nobody when nobody before it asks for it', () => {
    expect(pairToolCalls([result(1, 'a'), asking(2, 'a')])).toEqual(new Map([[2, new Map()]]));
  });

  test('nobody when it comes a second time: the first one stands', () => {
    const messages = [asking(1, 'a'), result(2, 'a'), result(3, 'a')];

    expect(pairToolCalls(messages)).toEqual(new Map([[1, new Map([['a', messages[1]]])]]));
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
