import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/core/ports/model-provider.ts';
import { assertValidChatRequest } from '../../support/loopback-model/assert-valid-chat-request.ts';
import type { ChatRequest } from '../../support/loopback-model/loopback-model.ts';
import { errorAnswer, textAnswer } from '../../support/loopback-model/answers.ts';
import { LoopbackModel } from '../../support/loopback-model/loopback-model.ts';
import { aKey, aRig, endOf, failureOf, textOf } from './harness.ts';

/** What reaches the server for a request. */
async function sent(request: Partial<ModelRequest>): Promise<ChatRequest> {
  const { ask, model } = await aRig();
  await ask(request);
  const [chat] = model.chats;
  if (chat === undefined) throw new Error('nothing was sent');
  return chat;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a request', () => {
  it('asks for a stream with usage, of the model that is meant, and plain text goes as a string', async () => {
    const chat = await sent({ system: 'Be brief.', messages: [{ role: 'user', text: 'Hello', parts: null }] });

    expect(chat).toEqual({
      model: 'test-model',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('names the most output tokens and the tools where there are some', async () => {
    const parameters = { type: 'object', properties: { path: { type: 'string' } } };
    const chat = await sent({
      maxOutputTokens: 500,
      tools: [{ name: 'read_file', description: 'Reads a file.', parameters }],
    });

    expect(chat).toMatchObject({
      max_tokens: 500,
      tools: [{ type: 'function', function: { name: 'read_file', description: 'Reads a file.', parameters } }],
    });
  });

  it('with calls and results keeps their pairs, and the arguments as the model wrote them', async () => {
    const chat = await sent({
      messages: [
        { role: 'user', text: 'go', parts: null },
        {
          role: 'assistant',
          text: '',
          parts: null,
          toolCalls: [
            { id: 'a', name: 'f', arguments: '{ "x": 1.0 }' },
            { id: 'b', name: 'g', arguments: '' },
          ],
        },
        { role: 'tool', toolCallId: 'a', toolName: 'f', text: 'done' },
        { role: 'tool', toolCallId: 'b', toolName: 'g', text: 'done too' },
      ],
    });

    assertValidChatRequest(chat.messages);
    expect(chat.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{ "x": 1.0 }' } },
          { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'done' },
      { role: 'tool', tool_call_id: 'b', content: 'done too' },
    ]);
  });

  it.each(['{"a":1,}', '{"filter": "tmp', '"text"', '[1]', 'null', '{"__proto__":{"x":1}}'])(
    'never sends arguments that are no JSON object: %s (D2, D7)',
    async (text) => {
      const chat = await sent({
        messages: [
          { role: 'user', text: 'go', parts: null },
          { role: 'assistant', text: '', parts: null, toolCalls: [{ id: 'a', name: 'f', arguments: text }] },
          { role: 'tool', toolCallId: 'a', toolName: 'f', text: 'done' },
        ],
      });

      assertValidChatRequest(chat.messages);
    },
  );

  it.each([
    ['time', 'time'],
    ['time<|channel|>commentary', 'time_channel_commentary'],
    ['x'.repeat(70), 'x'.repeat(64)],
    ['1.2', '_1_2'],
    ['', '_'],
  ])('sends the name of a called tool as every provider takes it: %j', async (name, legal) => {
    const chat = await sent({
      messages: [
        { role: 'user', text: 'go', parts: null },
        { role: 'assistant', text: '', parts: null, toolCalls: [{ id: 'a', name, arguments: '{}' }] },
        { role: 'tool', toolCallId: 'a', toolName: name, text: 'There is no such tool.' },
      ],
    });

    assertValidChatRequest(chat.messages);
    expect(chat.messages[1]).toMatchObject({ tool_calls: [{ function: { name: legal } }] });
  });

  it('with an image sends text and image as parts', async () => {
    const chat = await sent({
      messages: [
        {
          role: 'user',
          text: 'What is this?',
          parts: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', mediaType: 'image/png', data: base64('png') },
            { type: 'file', mediaType: 'application/pdf', data: base64('pdf'), name: 'a.pdf' },
          ],
        },
      ],
    });

    expect(chat.messages[0]?.content).toEqual([
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${base64('png')}` } },
      { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${base64('pdf')}` } },
    ]);
  });

  it('with files of text sends one text, and names a file that the wire cannot carry', async () => {
    const chat = await sent({
      messages: [
        {
          role: 'user',
          text: 'Look',
          parts: [
            { type: 'file', mediaType: 'text/markdown', data: base64('# Grüße'), name: 'a.md' },
            { type: 'file', mediaType: 'application/zip', data: base64('zip'), name: 'b.zip' },
          ],
        },
      ],
    });

    expect(chat.messages[0]?.content).toBe(
      "Look\n\n[a.md, text/markdown]\n# Grüße\n\n[b.zip, application/zip: this kind of file can't be sent to the model]",
    );
  });
});

describe('the key', () => {
  it('goes with each request to its address, beside the configured headers', async () => {
    const { ask, model } = await aRig(textAnswer('ok'), { headers: { 'x-team': 'holdfast' } });

    await ask();

    expect(model.requests[0]?.path).toBe('/v1/chat/completions');
    expect(model.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${aKey}`, 'x-team': 'holdfast' });
  });

  it('is not sent where there is none', async () => {
    const { ask, model } = await aRig(textAnswer('ok'), { apiKey: null });

    await ask();

    expect(model.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect (%i) to another origin', async (status) => {
    const elsewhere = await LoopbackModel.start();
    const { ask } = await aRig(errorAnswer(status, '', { location: `${elsewhere.url}/chat/completions` }));

    const failure = failureOf(await ask());
    await elsewhere.close();

    expect(failure).toMatchObject({ reason: 'not_an_api', retryable: false });
    expect(elsewhere.requests).toEqual([]);
  });

  it('follows a redirect to another path of its own origin', async () => {
    const { ask, model } = await aRig(textAnswer('moved'));
    model.enqueue(errorAnswer(308, '', { location: '/v2/chat/completions' }));

    expect(textOf(await ask())).toBe('moved');
    expect(model.requests.map(({ path, method }) => `${method} ${path}`)).toEqual([
      'POST /v1/chat/completions',
      'POST /v2/chat/completions',
    ]);
    expect(model.requests[1]?.rawBody).toBe(model.requests[0]?.rawBody);
  });

  it('does not go round in circles', async () => {
    const { ask, model } = await aRig(errorAnswer(307, '', { location: '/v1/chat/completions' }));

    expect(failureOf(await ask()).reason).toBe('not_an_api');
    expect(model.requests.length).toBeLessThan(6);
  });

  it('does not go to an address that a request names instead of the configured one', async () => {
    const elsewhere = await LoopbackModel.start();
    const { ask, model } = await aRig();

    const failure = failureOf(await ask({ target: { provider: 'custom', model: 'm', baseUrl: elsewhere.url } }));
    await elsewhere.close();

    expect(failure.reason).toBe('configuration');
    expect([...elsewhere.requests, ...model.requests]).toEqual([]);
  });

  it('goes to the configured address however its slashes are written', async () => {
    const { ask, model } = await aRig();

    expect(endOf(await ask({ target: { provider: 'custom', model: 'm', baseUrl: `${model.url}/` } })).kind).toBe(
      'finished',
    );
  });
});

describe('an address where nothing answers', () => {
  it('is unavailable, with words that say why', async () => {
    const model = await LoopbackModel.start();
    const { url, origin } = model;
    await model.close();
    const { ask } = await aRig(undefined, { baseUrl: url });

    const failure = failureOf(await ask());

    expect(failure).toMatchObject({ reason: 'unavailable', retryable: true, providerStatus: null });
    expect(failure.message).toContain(origin);
    expect(failure.message).toContain('nothing listens there');
  });

  it('with a name that nobody knows is unavailable', async () => {
    const { ask } = await aRig(undefined, { baseUrl: 'http://no-such-host.invalid/v1' });

    expect(failureOf(await ask())).toMatchObject({ reason: 'unavailable', retryable: true });
  });

  it('that speaks no TLS is a mistake of the configuration', async () => {
    const model = await LoopbackModel.start();
    const { ask } = await aRig(undefined, { baseUrl: model.url.replace('http:', 'https:') });

    const failure = failureOf(await ask());
    await model.close();

    expect(failure).toMatchObject({ reason: 'configuration', retryable: false });
  });

  it('is heard when it refuses a large request before it was sent whole', async () => {
    const { ask } = await aRig((call) =>
      call.send(
        413,
        { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
        { connection: 'close' },
      ),
    );

    const failure = failureOf(await ask({ messages: [{ role: 'user', text: 'x'.repeat(5_000_000), parts: null }] }));

    expect(failure.reason).toBe('payload_too_large');
  });
});
