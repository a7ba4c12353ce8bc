import { describe, expect, it } from 'vitest';
import {
  assertValidChatRequest,
  chatRequestFaults,
} from '../../../support/loopback-model/assert-valid-chat-request.ts';
import type { ChatMessage } from '../../../support/loopback-model/loopback-model.ts';

const user: ChatMessage = { role: 'user', content: 'go' };
const asks = (...ids: string[]): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, function: { name: 'f', arguments: '{}' } })),
});
const answers = (id: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content: 'done' });

describe('the check of recorded requests', () => {
  it('accepts what providers accept', () => {
    assertValidChatRequest([
      { role: 'system', content: 's' },
      user,
      asks('a', 'b'),
      answers('b'),
      answers('a'),
      { role: 'assistant', content: 'ok' },
      user,
    ]);
  });

  it.each<[string, readonly ChatMessage[]]>([
    ['an empty list', []],
    ['nobody but the system', [{ role: 'system', content: 's' }]],
    ['an assistant that begins', [{ role: 'assistant', content: 'hi' }, user]],
    ['a result without its call', [user, answers('a')]],
    ['a result that comes later', [user, asks('a'), user, answers('a')]],
    ['a call without its result', [user, asks('a')]],
    ['a batch that is answered in part', [user, asks('a', 'b'), answers('a'), user]],
    ['a result that comes twice', [user, asks('a'), answers('a'), answers('a')]],
    ['one id for two calls', [user, asks('a', 'a'), answers('a')]],
    [
      'arguments that are no JSON',
      [user, { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{' } }] }, answers('a')],
    ],
    [
      'a call without a name',
      [user, { role: 'assistant', tool_calls: [{ id: 'a', function: { name: '', arguments: '{}' } }] }, answers('a')],
    ],
    ['an empty answer', [user, { role: 'assistant', content: '' }, user]],
    ['an empty list of calls', [user, { role: 'assistant', content: 'x', tool_calls: [] }]],
  ])('refuses %s', (_, messages) => {
    expect(chatRequestFaults(messages)).not.toEqual([]);
  });
});
