import { describe, expect, test } from 'vitest';
import { messageFrom, metaOf, textDraft } from '../../../../../src/core/domain/transcript/message.ts';
import { aMessage, anInstant } from '../../../../support/builders.ts';

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
