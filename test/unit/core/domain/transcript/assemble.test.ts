import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assemble } from '../../../../../src/core/domain/transcript/assemble.ts';
import type { Message, ToolCall } from '../../../../../src/core/domain/transcript/message.ts';
import { aMessage } from '../../../../support/builders.ts';
import { deepFreeze } from '../../../../support/given.ts';
import { requestFaults } from './request-faults.ts';

const prompt = (text: string, overrides: Partial<Message> = {}) => aMessage({ text, ...overrides });
const answer = (text: string, calls: readonly ToolCall[] = []) =>
  aMessage({ role: 'assistant', kind: 'answer', text, toolCalls: calls, toolCallIds: calls.map(({ id }) => id) });
const result = (toolCallId: string, text: string) => aMessage({ role: 'tool', kind: 'tool', toolCallId, text });
const summary = (text: string) => aMessage({ kind: 'summary', admissionId: null, text });
const call = (id: string, args = '{}'): ToolCall => ({ id, name: 'look', arguments: args });

/** The request for these messages, which get their places first. */
const requestOf = (messages: readonly Message[]) =>
  assemble(deepFreeze(structuredClone(messages.map((message, index) => ({ ...message, id: index + 1 })))));

const user = (text: string) => ({ role: 'user', text, parts: null });
const assistant = (text: string, toolCalls: readonly ToolCall[] = []) => ({
  role: 'assistant',
  text,
  parts: null,
  toolCalls,
});
const tool = (toolCallId: string, text: string) => ({ role: 'tool', toolCallId, toolName: 'look', text });

test('a conversation goes out as it is', () => {
  expect(requestOf([prompt('Hello'), answer('Hi'), prompt('Go on')])).toEqual([
    user('Hello'),
    assistant('Hi'),
    user('Go on'),
  ]);
});

test('neighbours of one role stay two messages: merging is a provider’s affair (B44)', () => {
  expect(requestOf([prompt('One'), prompt('Two')])).toEqual([user('One'), user('Two')]);
});

describe('M1: calls and results', () => {
  test('go out together, in the order of the calls', () => {
    const batch = [answer('', [call('a'), call('b')]), result('b', 'of b'), result('a', 'of a')];

    expect(requestOf([prompt('Go'), ...batch])).toEqual([
      user('Go'),
      assistant('', [call('a'), call('b')]),
      tool('a', 'of a'),
      tool('b', 'of b'),
    ]);
  });

  test('a call whose result is missing gets one that claims nothing (B49)', () => {
    expect(requestOf([prompt('Go'), answer('', [call('a'), call('b')]), result('a', 'of a'), prompt('Next')])).toEqual([
      user('Go'),
      assistant('', [call('a'), call('b')]),
      tool('a', 'of a'),
      tool('b', '[The result of this call was lost. Its outcome is unknown.]'),
      user('Next'),
    ]);
  });

  test('a result that comes after the next prompt still goes out with its call', () => {
    expect(requestOf([prompt('Go'), answer('', [call('a')]), prompt('Next'), result('a', 'of a')])).toEqual([
      user('Go'),
      assistant('', [call('a')]),
      tool('a', 'of a'),
      user('Next'),
    ]);
  });

  test('a result without its call does not go out (B40)', () => {
    expect(requestOf([prompt('Go'), result('gone', 'of what?'), answer('Hi')])).toEqual([user('Go'), assistant('Hi')]);
  });

  test('a call that is made twice in one batch goes out once', () => {
    expect(requestOf([prompt('Go'), answer('', [call('a'), call('a')]), result('a', 'of a')])).toEqual([
      user('Go'),
      assistant('', [call('a')]),
      tool('a', 'of a'),
    ]);
  });

  test('an id that a later step uses again does not change the earlier result', () => {
    const first = [answer('', [call('a')]), result('a', 'the first')];
    const second = [answer('', [call('a')]), result('a', 'the second')];

    expect(requestOf([prompt('Go'), ...first, ...second])).toEqual([
      user('Go'),
      assistant('', [call('a')]),
      tool('a', 'the first'),
      assistant('', [call('a')]),
      tool('a', 'the second'),
    ]);
  });

  test('an open call does not get the result of an earlier call with its id: its outcome is unknown (B38)', () => {
    const first = [answer('', [call('a')]), result('a', 'the first')];

    expect(requestOf([prompt('Go'), ...first, answer('', [call('a')])]).at(-1)).toEqual(
      tool('a', '[The result of this call was lost. Its outcome is unknown.]'),
    );
  });
});

describe('M2: nothing empty goes out, and the user speaks first', () => {
  test('an assistant that said nothing and called nothing is left out', () => {
    expect(requestOf([prompt('Go'), answer(' \n'), prompt('Next')])).toEqual([user('Go'), user('Next')]);
  });

  test('a prompt without text is kept for its image', () => {
    const parts: Message['parts'] = [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }];

    expect(requestOf([prompt('', { parts })])).toEqual([{ role: 'user', text: '', parts }]);
  });

  test('a result without output says so', () => {
    expect(requestOf([prompt('Go'), answer('', [call('a')]), result('a', '')]).at(-1)).toEqual(
      tool('a', '[no output]'),
    );
  });

  test('a transcript that begins with the assistant gets an opening (B43, B47)', () => {
    expect(requestOf([answer('Hi')])).toEqual([user('[The conversation goes on.]'), assistant('Hi')]);
  });

  test('even an empty transcript makes a valid request (C28)', () => {
    expect(requestOf([])).toEqual([user('[The conversation goes on.]')]);
  });
});

describe('M3: arguments', () => {
  test.each(['', 'not json', '[1]', '"text"', '12', 'null', '{"cut": '])('%j go out as an empty object', (args) => {
    expect(requestOf([prompt('Go'), answer('', [call('a', args)]), result('a', 'of a')])[1]).toEqual(
      assistant('', [call('a')]),
    );
  });

  test('that are an object go out word for word', () => {
    const args = '{ "path" : "ä.txt",\n"n": 1.0 }';

    expect(requestOf([prompt('Go'), answer('', [call('a', args)]), result('a', 'of a')])[1]).toEqual(
      assistant('', [call('a', args)]),
    );
  });
});

describe('M5: a summary', () => {
  test('is background and not somebody speaking (B25)', () => {
    expect(requestOf([prompt('Go'), summary('A parser was written.'), prompt('Next')])).toEqual([
      user('Go'),
      user(
        '<background>\nA summary of the earlier conversation, made by the gateway. It is context, not a request.\n\n' +
          'A parser was written.\n</background>',
      ),
      user('Next'),
    ]);
  });

  test('may open the request', () => {
    expect(requestOf([summary('A parser was written.'), answer('Hi')])[0]?.role).toBe('user');
  });
});

test('what a provider wants back word for word is handed back', () => {
  const parts: Message['parts'] = [
    { type: 'reasoning', text: 'Hm.', providerMetadata: { anthropic: { signature: 'xyz' } } },
  ];
  const signed = { ...call('a'), providerMetadata: { google: { thoughtSignature: 'abc' } } };
  const message = { ...answer('Yes.', [signed]), parts };

  expect(requestOf([prompt('Go'), message, result('a', 'of a')])[1]).toEqual({ ...assistant('Yes.', [signed]), parts });
});

test('whatever is in a transcript, the request is valid (B40)', () => {
  const text = fc.oneof(fc.constantFrom('', ' ', '\n'), fc.string());
  const ids = fc.constantFrom('a', 'b', 'c', 'd');
  const args = fc.oneof(fc.constantFrom('', '{}', '[]', 'null', '{"a":'), fc.string());
  const image: Message['parts'] = [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }];
  const parts = fc.constantFrom<Message['parts']>(null, null, [], image);
  const anything: fc.Arbitrary<Message> = fc.oneof(
    fc.tuple(text, parts).map(([words, more]) => prompt(words, { parts: more })),
    text.map(summary),
    fc
      .tuple(
        text,
        fc.array(
          fc.tuple(ids, args).map(([id, a]) => call(id, a)),
          { maxLength: 3 },
        ),
      )
      .map(([words, calls]) => answer(words, calls)),
    fc.tuple(ids, text).map(([id, words]) => result(id, words)),
  );

  fc.assert(
    fc.property(fc.array(anything, { maxLength: 20 }), (messages) => {
      expect(requestFaults(requestOf(messages))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

describe('what a model wants handed back', () => {
  const metadata = { anthropic: { signature: 'c2ln' } };
  const first = { provider: 'claude', model: 'sonnet', baseUrl: null };
  const thinking = { type: 'reasoning', text: 'Hm', providerMetadata: metadata } as const;
  const asking = aMessage({
    ...answer('I look', [{ ...call('a'), providerMetadata: metadata }]),
    parts: [thinking],
    answeredBy: first,
  });
  const plain = aMessage({ ...answer('Done'), parts: [thinking], answeredBy: first });
  const transcript = [prompt('Go'), asking, result('a', 'fine'), plain].map((message, index) => ({
    ...message,
    id: index + 1,
  }));

  test('goes to that model, and reasoning only with the calls that it led to', () => {
    const request = assemble(deepFreeze(transcript), first);

    expect(request[1]).toEqual({
      role: 'assistant',
      text: 'I look',
      parts: [thinking],
      toolCalls: [{ ...call('a'), providerMetadata: metadata }],
    });
    expect(request[3]).toEqual(assistant('Done'));
  });

  test.each([
    { provider: 'claude', model: 'opus' },
    { provider: 'gemini', model: 'sonnet' },
  ])('does not go to $provider/$model, and its calls do', (reader) => {
    const request = assemble(deepFreeze(transcript), reader);

    expect(request).toEqual([user('Go'), assistant('I look', [call('a')]), tool('a', 'fine'), assistant('Done')]);
  });
});

test('a part that the reader does not take is named instead', () => {
  const parts: Message['parts'] = [
    { type: 'text', text: 'See' },
    { type: 'image', mediaType: 'image/png', data: 'AAAA' },
  ];
  const messages = deepFreeze([prompt('See', { parts })]);

  expect(assemble(messages, { provider: 'p', model: 'blind', takes: { images: false } })).toEqual([
    {
      role: 'user',
      text: 'See',
      parts: [
        { type: 'text', text: 'See' },
        { type: 'text', text: '[image/png: this model does not take it]' },
      ],
    },
  ]);
  expect(assemble(messages, { provider: 'p', model: 'seeing' })[0]).toMatchObject({ parts });
});
