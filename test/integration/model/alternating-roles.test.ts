/* Servers whose chat template wants user and assistant to take turns refuse what a compression leaves behind it. */
import { describe, expect, it } from 'vitest';
import type { RequestMessage } from '../../../src/core/ports/model-provider.ts';
import { errorAnswer, textAnswer } from '../../support/loopback-model/answers.ts';
import { assertValidChatRequest } from '../../support/loopback-model/assert-valid-chat-request.ts';
import type { Answer, LoopbackModel } from '../../support/loopback-model/loopback-model.ts';
import { aRig, failureOf, textOf } from './harness.ts';

const user = (text: string): RequestMessage => ({ role: 'user', text, parts: null });
const assistant = (text: string): RequestMessage => ({ role: 'assistant', text, parts: null, toolCalls: [] });
const png = { type: 'image', mediaType: 'image/png', data: 'cG5n' } as const;

/** What a request looks like after a compression: head, summary, prompt. */
const compressed = [user('head'), assistant('yes'), user('SUMMARY'), user('prompt')];

const templateError = errorAnswer(400, {
  object: 'error',
  message: 'Conversation roles must alternate user/assistant/user/assistant/...',
  type: 'BadRequestError',
  code: 400,
});

/** Gemma's template: the roles after the system's have to take turns, the user first. */
function strict(answer: Answer, refusal: Answer = templateError): Answer {
  return (call) => {
    const roles = (call.request.body?.messages ?? []).map(({ role }) => role).filter((role) => role !== 'system');
    const alternate = roles.every((role, index) => role === (index % 2 === 0 ? 'user' : 'assistant'));
    return (alternate ? answer : refusal)(call);
  };
}

function sentMessages(model: LoopbackModel) {
  return model.chats.map(({ messages }) => messages.map(({ role, content }) => [role, content]));
}

const merged = [
  ['system', 'Be brief.'],
  ['user', 'head'],
  ['assistant', 'yes'],
  ['user', 'SUMMARY\n\nprompt'],
];

describe('a server that takes alternating roles only', () => {
  it('is asked again with its neighbours of one role as one message', async () => {
    const { ask, model } = await aRig(strict(textAnswer('fine')));

    const events = await ask({ system: 'Be brief.', messages: compressed });

    expect(textOf(events)).toBe('fine');
    expect(sentMessages(model)[1]).toEqual(merged);
  });

  it('is not asked in vain again, and another model of the same address is asked as before', async () => {
    const { ask, model } = await aRig(strict(textAnswer('fine')));
    const target = { provider: 'custom', model: 'other', baseUrl: null };

    await ask({ messages: compressed });
    await ask({ messages: [...compressed, assistant('fine'), user('next')] });
    await ask({ messages: compressed, target });

    expect(model.chats.map((chat) => [chat.model, chat.messages.length])).toEqual([
      ['test-model', 4],
      ['test-model', 3],
      ['test-model', 5],
      ['other', 4],
      ['other', 3],
    ]);
  });

  it('gets texts and images of neighbours in their order', async () => {
    const { ask, model } = await aRig(strict(textAnswer('fine')));

    await ask({ messages: [user('first'), { role: 'user', text: 'Look', parts: [png] }, user('last')] });

    expect(model.chats[1]?.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'first' },
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,cG5n' } },
          { type: 'text', text: 'last' },
        ],
      },
    ]);
  });

  it.each([
    [400, { object: 'error', message: "Unexpected role 'user' after role 'tool'", code: '3230' }],
    [
      400,
      {
        error: {
          message: 'deepseek-reasoner does not support successive user or assistant messages (messages[1] and …)',
        },
      },
    ],
    [
      400,
      {
        error: {
          message:
            'After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).',
        },
      },
    ],
    [
      422,
      {
        error:
          'Template error: invalid operation: Conversation roles must alternate user/assistant/user/assistant/... (in <string>:1)',
      },
    ],
    // llama.cpp says so with a status that would be worth a retry.
    [
      500,
      {
        error: {
          code: 500,
          message: 'Conversation roles must alternate user/assistant at row 3',
          type: 'server_error',
        },
      },
    ],
  ])('is known by its words: %i %j', async (status, body) => {
    const { ask } = await aRig(strict(textAnswer('fine'), errorAnswer(status, body)));

    expect(textOf(await ask({ messages: compressed }))).toBe('fine');
  });

  it('gets a word of the assistant between the results of tools and a user, as Mistral wants it', async () => {
    const { ask, model } = await aRig(textAnswer('fine'));
    model.enqueue(errorAnswer(400, { message: "Unexpected role 'user' after role 'tool'", code: '3230' }));

    await ask({
      messages: [
        user('go'),
        { role: 'assistant', text: '', parts: null, toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }] },
        { role: 'tool', toolCallId: 'a', toolName: 'f', text: 'done' },
        user('and now?'),
      ],
    });

    const messages = model.chats[1]?.messages ?? [];
    assertValidChatRequest(messages);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('that an operator has named is asked so at once', async () => {
    const optionsFor = () => ({
      temperature: null,
      reasoningEffort: null,
      providerOptions: {},
      alternatingRoles: true,
    });
    const { ask, model } = await aRig(strict(textAnswer('fine')), { optionsFor });

    await ask({ system: 'Be brief.', messages: compressed });

    expect(sentMessages(model)).toEqual([merged]);
  });
});

describe('a request is not sent again', () => {
  it('when its roles alternate already', async () => {
    const { ask, model } = await aRig(templateError);

    expect(failureOf(await ask()).reason).toBe('bad_request');
    expect(model.chats).toHaveLength(1);
  });

  it('a second time, when the other form is refused too; nothing is remembered then', async () => {
    const { ask, model } = await aRig(templateError);

    expect(failureOf(await ask({ messages: compressed })).reason).toBe('bad_request');
    await ask({ messages: compressed });
    expect(model.chats.map(({ messages }) => messages.length)).toEqual([4, 3, 4, 3]);
  });

  it('when an operator has said that the roles need not alternate', async () => {
    const optionsFor = () => ({
      temperature: null,
      reasoningEffort: null,
      providerOptions: {},
      alternatingRoles: false,
    });
    const { ask, model } = await aRig(templateError, { optionsFor });

    await ask({ messages: compressed });

    expect(model.chats).toHaveLength(1);
  });

  it('when it was refused for something else', async () => {
    const { ask, model } = await aRig(errorAnswer(400, { error: { message: 'Unknown parameter: top_k' } }));

    await ask({ messages: compressed });

    expect(model.chats).toHaveLength(1);
  });
});

it('a server that takes every order gets the messages as they are', async () => {
  const { ask, model } = await aRig(textAnswer('fine'));

  await ask({ messages: compressed });

  expect(model.chats.map(({ messages }) => messages.length)).toEqual([4]);
});
