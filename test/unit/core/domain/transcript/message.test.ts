import { describe, expect, test } from 'vitest';
import { messageFrom, metaOf, openToolCalls, textDraft } from '../../../../../src/core/domain/transcript/message.ts';
import { aMessage, anInstant } from '../../../../support/builders.ts';

const asking = (...ids: readonly string[]) => aMessage({ role: 'assistant', kind: 'answer', toolCallIds: ids });
const result = (toolCallId: string) => aMessage({ role: 'tool', kind: 'tool', toolCallId });

describe('the open calls of a transcript', () => {
  test('are those without a result, oldest first', () => {
    expect(openToolCalls([asking('a', 'b', 'c'), result('b')])).toEqual(['a', 'c']);
  });

  test('are none where every call has its result', () => {
    expect(openToolCalls([asking('a'), result('a'), asking('b'), result('b')])).toEqual([]);
  });

  test('are none in a transcript without calls', () => {
    expect(openToolCalls([aMessage()])).toEqual([]);
  });

  test('hold a call whose id an earlier, answered call has used', () => {
    expect(openToolCalls([asking('a'), result('a'), asking('a')])).toEqual(['a']);
  });
});

describe('a draft', () => {
  const draft = textDraft({ role: 'user', kind: 'prompt', text: 'Hello', tokens: 5, admissionId: 'admission-1' });

  test('of plain text has neutral values for all the rest', () => {
    expect(draft).toEqual({
      role: 'user',
      kind: 'prompt',
      text: 'Hello',
      tokens: 5,
      admissionId: 'admission-1',
      parts: null,
      toolCalls: [],
      toolCallId: null,
      partial: false,
      usage: null,
      finishReason: null,
    });
  });

  test('becomes a message with an id of its own, which is its origin too', () => {
    const toolCalls = [{ id: 'a', name: 'look', arguments: '{}' }];

    expect(messageFrom({ ...draft, toolCalls }, 7, anInstant)).toEqual({
      ...draft,
      toolCalls,
      toolCallIds: ['a'],
      id: 7,
      originId: 7,
      at: anInstant,
    });
  });
});

test('what the decider keeps of a message has no content', () => {
  expect(metaOf(aMessage({ id: 7, text: 'secret' }))).toEqual({
    id: 7,
    originId: 7,
    role: 'user',
    kind: 'prompt',
    tokens: 5,
    admissionId: 'admission-1',
    toolCallIds: [],
    toolCallId: null,
  });
});
