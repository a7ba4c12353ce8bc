import { describe, expect, test } from 'vitest';
import { metaOf } from '../../../../../src/core/domain/transcript/message.ts';
import { forkedTranscript } from '../../../../../src/core/domain/transcript/replay.ts';
import { aMessage, anAnswer, aToolCall, aToolResult } from '../../../../support/builders.ts';

const prompt = metaOf(aMessage({ id: 1, kind: 'prompt' }));
const asks = metaOf(aMessage({ ...anAnswer({ toolCalls: [aToolCall()] }), id: 2 }));
const result = metaOf(aMessage({ ...aToolResult('call-1'), id: 3 }));
const steer = metaOf(aMessage({ id: 4, kind: 'steer' }));
const answer = metaOf(aMessage({ ...anAnswer(), id: 5 }));
const next = metaOf(aMessage({ id: 6, kind: 'prompt' }));
const turn = [prompt, asks, result, steer, answer, next];

const idsOf = (at: number): readonly number[] =>
  forkedTranscript(turn.slice(0, at), turn.slice(at), at).map(({ id }) => id);

describe('a fork', () => {
  test.each([
    ['a prompt that nothing answers is left out', 1, []],
    ['a call takes its result along', 2, [1, 2, 3]],
    ['a result ends its step', 3, [1, 2, 3]],
    ['a steer that nothing has answered yet is left out', 4, [1, 2, 3]],
    ['an answer keeps the steer that it answers', 5, [1, 2, 3, 4, 5]],
    ['the next prompt is left out', 6, [1, 2, 3, 4, 5]],
  ])('at a message: %s', (_what, at, ids) => {
    expect(idsOf(at)).toEqual(ids);
  });

  test('at a call whose result never came leaves the whole step out', () => {
    expect(forkedTranscript([prompt, asks], [next], 2).map(({ id }) => id)).toEqual([]);
  });

  test('at a step whose results never came keeps an earlier step that used the same call id', () => {
    const again = { ...asks, id: 5 };

    expect(forkedTranscript([prompt, asks, result, again], [next], 5).map(({ id }) => id)).toEqual([1, 2, 3]);
  });
});
