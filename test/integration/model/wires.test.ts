import { describe, expect, it, onTestFinished } from 'vitest';
import type { WireProviderOptions } from '../../../src/adapters/outbound/model/wire-provider.ts';
import type { ModelRequest } from '../../../src/core/ports/model-provider.ts';
import { assemble } from '../../../src/core/domain/transcript/assemble.ts';
import type { AnsweredBy, ContentPart, Message } from '../../../src/core/domain/transcript/message.ts';
import type { RequestMessage } from '../../../src/core/domain/transcript/request-message.ts';
import { aMessage } from '../../support/builders.ts';
import { errorAnswer } from '../../support/loopback-model/answers.ts';
import { dataFrame, streamed } from '../../support/loopback-model/dialect.ts';
import type { Dialect, Said } from '../../support/loopback-model/dialect.ts';
import { dialects } from '../../support/loopback-model/dialects.ts';
import type { Answer } from '../../support/loopback-model/loopback-model.ts';
import { aKey, aRig, callsOf, endOf, failureOf, reasoningOf, textOf } from './harness.ts';
import type { Rig } from './harness.ts';

/* The same promises for every interface that the gateway speaks, against servers that stream in its own form. */

const twoCalls: Said = {
  text: 'I look.',
  calls: [
    { id: 'call_A1', name: 'read_file', arguments: { path: '/tmp/ä.txt' } },
    { id: 'call_B2', name: 'list_files', arguments: { path: '/var', depth: 2 } },
  ],
};

const tools = ['read_file', 'list_files'].map((name) => ({
  name,
  description: `The tool ${name}.`,
  parameters: { type: 'object', properties: { path: { type: 'string' }, depth: { type: 'number' } } },
}));

/** A rig on the wire of a dialect; the bodies of all its requests are checked when the test ends. */
async function aWire(
  dialect: Dialect,
  answer?: Answer,
  options: Partial<WireProviderOptions> = {},
): Promise<Rig & { readonly bodies: () => readonly unknown[] }> {
  const rig = await aRig(answer ?? streamed(dialect.frames({ text: 'ok' })), options, dialect.wire);
  const bodies = (): readonly unknown[] => rig.model.requests.map(({ rawBody }) => JSON.parse(rawBody) as unknown);
  onTestFinished(() => {
    expect(bodies().flatMap((body) => dialect.faults(body))).toEqual([]);
  });
  return { ...rig, bodies };
}

/** Ordinary answers of an earlier step, as they come from the store. */
const toolTalk: readonly RequestMessage[] = [
  { role: 'user', text: 'Look around.', parts: null },
  {
    role: 'assistant',
    text: 'I look.',
    parts: null,
    toolCalls: [
      { id: 'functions.read:0', name: 'read_file', arguments: '{"path":"/a"}' },
      { id: 'x'.repeat(80), name: 'list_files', arguments: '' },
    ],
  },
  { role: 'tool', toolCallId: 'functions.read:0', toolName: 'read_file', text: 'content' },
  { role: 'tool', toolCallId: 'x'.repeat(80), toolName: 'list_files', text: 'a, b' },
];

describe.each(dialects)('the wire $wire', (dialect) => {
  it('streams a text and ends with its reason and its usage', async () => {
    const { ask, model } = await aWire(
      dialect,
      streamed(dialect.frames({ text: 'Grüße, Welt', inputTokens: 12, outputTokens: 7 })),
    );

    const events = await ask();

    expect(textOf(events)).toBe('Grüße, Welt');
    expect(events.filter(({ kind }) => kind === 'text').length).toBeGreaterThan(1);
    expect(endOf(events)).toEqual({
      kind: 'finished',
      finishReason: 'stop',
      usage: { inputTokens: 12, outputTokens: 7, totalTokens: dialect.wire === 'anthropic' ? null : 19 },
      parts: null,
    });
    expect(model.requests.map(({ path }) => path)).toEqual([`/v1${dialect.path('test-model')}`]);
    expect(model.requests[0]?.headers).toMatchObject(dialect.keyHeader(aKey));
  });

  it('gives parallel tool calls whole, and takes their results back in pairs', async () => {
    const { ask, model } = await aWire(dialect, streamed(dialect.frames(twoCalls)));

    const events = await ask({ tools });

    expect(textOf(events)).toBe('I look.');
    expect(callsOf(events)).toEqual([
      ['call_A1', 'read_file', '{"path":"/tmp/ä.txt"}'],
      ['call_B2', 'list_files', '{"path":"/var","depth":2}'],
    ]);
    expect(endOf(events)).toMatchObject({ kind: 'finished', finishReason: 'tool_calls' });

    model.answerWith(streamed(dialect.frames({ text: 'Done.' })));
    const calls = events.flatMap((event) => (event.kind === 'tool_call' ? [event.call] : []));
    const results = calls.map((call): RequestMessage => ({
      role: 'tool',
      toolCallId: call.id,
      toolName: call.name,
      text: 'fine',
    }));
    const next = await ask({
      tools,
      messages: [
        { role: 'user', text: 'Look.', parts: null },
        { role: 'assistant', text: 'I look.', parts: null, toolCalls: calls },
        ...results,
      ],
    });
    expect(textOf(next)).toBe('Done.');
  });

  it('takes a history that another model wrote: its ids of calls become legal, in pairs', async () => {
    const { ask, bodies } = await aWire(dialect);

    expect(endOf(await ask({ system: 'Be brief.', tools, messages: toolTalk })).kind).toBe('finished');
    expect(
      endOf(await ask({ tools, messages: [...toolTalk, { role: 'user', text: 'And now?', parts: null }] })).kind,
    ).toBe('finished');

    expect(bodies()).toHaveLength(2);
  });

  it('sends an image and a document with the text', async () => {
    const { ask, bodies } = await aWire(dialect);
    const data = Buffer.from('picture').toString('base64');
    const pdf = Buffer.from('%PDF-1.4 pages').toString('base64');

    await ask({
      messages: [
        {
          role: 'user',
          text: 'What is this?',
          parts: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', mediaType: 'image/png', data },
            { type: 'file', mediaType: 'application/pdf', data: pdf, name: 'a.pdf' },
          ],
        },
      ],
    });

    const body = JSON.stringify(bodies()[0]);
    expect(body.split(data)).toHaveLength(2);
    expect(body.split(pdf)).toHaveLength(2);
    expect(body.split('What is this?')).toHaveLength(2);
  });

  it('that ends at the most output tokens says so', async () => {
    const { ask } = await aWire(dialect, streamed(dialect.cutShort({ text: 'Too lo' })));

    expect(endOf(await ask())).toMatchObject({ kind: 'finished', finishReason: 'length' });
  });

  it('refuses a request that is too long as an overflow, and learns a window that is stated', async () => {
    const { status, body, contextTokens } = dialect.overflow;
    const { ask } = await aWire(dialect, errorAnswer(status, body));

    expect(endOf(await ask())).toMatchObject({
      kind: 'failed',
      failure: { reason: 'context_overflow', retryable: false, providerStatus: status },
      learnt: contextTokens === null ? null : { contextTokens },
    });
  });

  it('that is limited or overloaded is worth another try, after the time that it names', async () => {
    const { ask, model } = await aWire(dialect);
    model.enqueue(
      errorAnswer(429, { error: { message: 'slow down', type: 'rate_limit_error' } }, { 'retry-after': '3' }),
      errorAnswer(429, {
        error: {
          code: 429,
          message: 'Resource has been exhausted.',
          status: 'RESOURCE_EXHAUSTED',
          details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' }],
        },
      }),
      errorAnswer(dialect.overloaded.status, dialect.overloaded.body),
    );

    expect(failureOf(await ask())).toMatchObject({ reason: 'rate_limited', retryable: true, retryAfterMs: 3000 });
    expect(failureOf(await ask())).toMatchObject({ reason: 'rate_limited', retryable: true, retryAfterMs: 17_000 });
    expect(failureOf(await ask())).toMatchObject({ reason: 'unavailable', retryable: true });
    expect(model.requests).toHaveLength(3);
  });

  it('with an error inside its stream has failed, and what was said before stays', async () => {
    const frames = dialect.frames({ text: 'So far so good' });
    const said = frames.slice(0, frames.length - 1 - frames.filter((frame) => frame.includes('DONE')).length);
    const { ask } = await aWire(dialect, streamed([...said.slice(0, 4), dialect.errorFrame]));

    const events = await ask();

    expect(failureOf(events)).toMatchObject({ reason: 'unavailable', retryable: true });
    expect(callsOf(events)).toEqual([]);
  });

  it('with a damaged frame has failed', async () => {
    const frames = dialect.frames(twoCalls);
    const { ask } = await aWire(dialect, streamed([...frames.slice(0, 2), 'data: {"broken\n\n', ...frames.slice(2)]));

    const events = await ask();

    expect(failureOf(events)).toMatchObject({ reason: 'cut_off', retryable: true });
    expect(callsOf(events)).toEqual([]);
  });

  it('that answers 200 with an error, a web page or nothing has failed', async () => {
    const { ask, model } = await aWire(dialect);
    model.enqueue(
      errorAnswer(200, dialect.overloaded.body),
      errorAnswer(200, '<html><title>Log in</title></html>', { 'content-type': 'text/html' }),
      errorAnswer(200, ''),
      errorAnswer(200, { hello: 'world' }),
    );

    expect(failureOf(await ask()).reason).toBe('unavailable');
    expect(failureOf(await ask()).reason).toBe('not_an_api');
    expect(failureOf(await ask()).reason).toBe('cut_off');
    expect(failureOf(await ask()).reason).toBe('not_an_api');
  });

  it('with a refused key fails as `auth`, and the key is not in the message', async () => {
    const { ask } = await aWire(
      dialect,
      errorAnswer(401, { error: { type: 'authentication_error', message: `invalid x-api-key ${aKey}` } }),
    );

    const failure = failureOf(await ask());

    expect(failure).toMatchObject({ reason: 'auth', retryable: false });
    expect(failure.message).not.toContain(aKey);
  });

  it('sends no key where there is none, and never one from the environment', async () => {
    const names = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'GOOGLE_GENERATIVE_AI_API_KEY'];
    const before = names.map((name) => [name, process.env[name]] as const);
    onTestFinished(() => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    });
    for (const name of names) process.env[name] = aKey;
    const { ask, model } = await aWire(dialect, undefined, { apiKey: null });

    expect(endOf(await ask()).kind).toBe('finished');

    expect(JSON.stringify(model.requests[0]?.headers)).not.toContain(aKey);
    expect(Object.keys(model.requests[0]?.headers ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:authorization|x-api-key|x-goog-api-key)$/)]),
    );
  });

  it('does not follow a redirect to another origin', async () => {
    const { ask } = await aWire(dialect, errorAnswer(307, '', { location: 'http://127.0.0.1:9/elsewhere' }));

    expect(failureOf(await ask())).toMatchObject({ reason: 'not_an_api', retryable: false });
  });

  it('that goes silent has stalled', async () => {
    const frames = dialect.frames(twoCalls);
    const { ask } = await aWire(
      dialect,
      (call) => {
        for (const frame of frames.slice(0, 4)) call.raw(frame);
        return call.closed;
      },
      { idleTimeoutMs: 150 },
    );

    expect(failureOf(await ask())).toMatchObject({ reason: 'stalled', retryable: true });
  });

  it('that is stopped ends as `aborted` at once and closes its connection', async () => {
    const stop = new AbortController();
    const { ask, model } = await aWire(dialect, (call) => {
      call.raw(dialect.frames({ text: 'Hello' })[0] ?? '');
      stop.abort();
      return call.closed;
    });

    expect(failureOf(await ask({}, stop.signal)).reason).toBe('aborted');
    await expect.poll(() => model.openCallCount).toBe(0);
  });
});

const byWire = (wire: Dialect['wire']): Dialect => {
  const found = dialects.find((dialect) => dialect.wire === wire);
  if (found === undefined) throw new Error(`no dialect of ${wire}`);
  return found;
};

describe('reasoning', () => {
  const thought: Said = { reasoning: 'Let me think.', text: 'I look.', calls: twoCalls.calls ?? [] };

  /** Asks once with reasoning and calls, then hands the answer back with its results. */
  async function handedBack(dialect: Dialect): Promise<string> {
    const { ask, model, bodies } = await aWire(dialect, streamed(dialect.frames(thought)), {
      optionsFor: () => ({ temperature: null, reasoningEffort: 'low', providerOptions: {}, alternatingRoles: null }),
    });
    const events = await ask({ tools, maxOutputTokens: 20_000 });
    expect(reasoningOf(events)).toBe('Let me think.');
    model.answerWith(streamed(dialect.frames({ text: 'Done.' })));
    await ask({ ...nextRequest(events), maxOutputTokens: 20_000 });
    return JSON.stringify(bodies()[1]);
  }

  function nextRequest(events: Awaited<ReturnType<Rig['ask']>>): Partial<ModelRequest> {
    const end = endOf(events);
    const toolCalls = events.flatMap((event) => (event.kind === 'tool_call' ? [event.call] : []));
    return {
      tools,
      messages: [
        { role: 'user', text: 'Look.', parts: null },
        { role: 'assistant', text: textOf(events), parts: end.kind === 'finished' ? end.parts : null, toolCalls },
        ...toolCalls.map((call): RequestMessage => ({
          role: 'tool',
          toolCallId: call.id,
          toolName: call.name,
          text: 'fine',
        })),
      ],
    };
  }

  it('of Anthropic goes back with its signature', async () => {
    expect(await handedBack(byWire('anthropic'))).toContain(
      '{"type":"thinking","thinking":"Let me think.","signature":"c2lnbmVk"}',
    );
  });

  it('of Gemini goes back as the signature of its call', async () => {
    expect(await handedBack(byWire('google'))).toContain('"thoughtSignature":"c2lnbmVk"');
  });

  it('of OpenAI goes back encrypted', async () => {
    expect(await handedBack(byWire('openai-responses'))).toContain('"encrypted_content":"c2VjcmV0"');
  });

  it('of a compatible server goes back as it came', async () => {
    expect(await handedBack(byWire('openai-compatible'))).toContain('"reasoning_content":"Let me think."');
  });

  it.each(dialects)('of another vendor is not sent to $wire, and its calls are', async (dialect) => {
    for (const origin of dialects.filter(({ wire }) => wire !== dialect.wire)) {
      const first = await aWire(origin, streamed(origin.frames(thought)));
      const { ask, bodies } = await aWire(dialect, undefined, {
        optionsFor: () => ({ temperature: null, reasoningEffort: 'high', providerOptions: {}, alternatingRoles: null }),
      });
      const transcript = transcriptOf(await first.ask({ tools }), {
        provider: origin.wire,
        model: 'first',
        baseUrl: null,
      });

      await ask({
        tools,
        messages: assemble(transcript, { provider: dialect.wire, model: 'second' }),
        maxOutputTokens: 30_000,
      });

      const body = JSON.stringify(bodies()[0]);
      expect(body).not.toMatch(/Let me think|c2lnbmVk|c2VjcmV0/);
      expect(body).toContain('read_file');
      expect(body).toContain('I look.');
    }
  });

  function transcriptOf(events: Awaited<ReturnType<Rig['ask']>>, answeredBy: AnsweredBy): readonly Message[] {
    const end = endOf(events);
    const toolCalls = events.flatMap((event) => (event.kind === 'tool_call' ? [event.call] : []));
    const parts = end.kind === 'finished' ? end.parts : null;
    const image: ContentPart = { type: 'image', mediaType: 'image/png', data: 'cGljdHVyZQ==' };
    return [
      aMessage({ id: 1, text: 'Look.', parts: [{ type: 'text', text: 'Look.' }, image] }),
      aMessage({ id: 2, role: 'assistant', kind: 'answer', text: textOf(events), parts, toolCalls, answeredBy }),
      ...toolCalls.map(({ id }, index) =>
        aMessage({ id: 3 + index, role: 'tool', kind: 'tool', text: 'fine', toolCallId: id }),
      ),
    ];
  }
});

describe('a call that began and never became whole', () => {
  it.each([
    ['anthropic', /content_block_stop","index":2/],
    ['openai-responses', /output_item\.done","output_index":2/],
  ] as const)('makes the step of %s a failure, although the answer says that it is whole', async (wire, lost) => {
    const dialect = byWire(wire);
    const frames = dialect.frames(twoCalls).filter((frame) => !lost.test(frame));
    expect(frames).toHaveLength(dialect.frames(twoCalls).length - 1);
    const { ask } = await aWire(dialect, streamed(frames));

    const events = await ask({ tools });

    expect(failureOf(events)).toMatchObject({ reason: 'cut_off', retryable: true });
    expect(callsOf(events)).toEqual([]);
  });
});

describe('an answer that the vendor filtered', () => {
  it('of Gemini is a failure of its own kind, also when the prompt was blocked', async () => {
    const { ask, model } = await aWire(byWire('google'));
    model.enqueue(
      streamed([dataFrame({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 5 } })]),
      streamed([dataFrame({ candidates: [{ content: { parts: [] }, finishReason: 'SAFETY', index: 0 }] })]),
      streamed([dataFrame({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }] })]),
    );

    expect(failureOf(await ask()).reason).toBe('content_filtered');
    expect(failureOf(await ask()).reason).toBe('content_filtered');
    expect(failureOf(await ask())).toMatchObject({ reason: 'unavailable', retryable: true });
  });

  it('of Anthropic is a failure too, and a window that was filled is an overflow', async () => {
    const dialect = byWire('anthropic');
    const ending = (reason: string, text: string) =>
      streamed(dialect.frames({ text }).map((frame) => frame.replace('end_turn', reason)));
    const { ask, model } = await aWire(dialect);
    model.enqueue(ending('refusal', ''), ending('model_context_window_exceeded', 'So'));

    expect(failureOf(await ask()).reason).toBe('content_filtered');
    expect(failureOf(await ask()).reason).toBe('context_overflow');
  });
});

describe('what an operator asks of a model', () => {
  const asked = { temperature: 0.3, reasoningEffort: 'high', providerOptions: {}, alternatingRoles: null } as const;

  async function bodyOf(
    wire: Dialect['wire'],
    model: string,
    request: Partial<ModelRequest> = {},
    options = {},
  ): Promise<unknown> {
    const { ask, bodies } = await aWire(byWire(wire), undefined, { optionsFor: () => ({ ...asked, ...options }) });
    await ask({ target: { provider: 'custom', model, baseUrl: null }, ...request });
    return bodies()[0];
  }

  it('reaches each wire in its own words', async () => {
    expect(await bodyOf('openai-compatible', 'm')).toMatchObject({ temperature: 0.3, reasoning_effort: 'high' });
    expect(await bodyOf('openai-chat', 'gpt-5')).toMatchObject({ reasoning_effort: 'high' });
    expect(await bodyOf('openai-responses', 'gpt-5')).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
    });
    expect(await bodyOf('google', 'gemini-3-pro')).toMatchObject({
      generationConfig: { temperature: 0.3, thinkingConfig: { thinkingLevel: 'high', includeThoughts: true } },
    });
    expect(await bodyOf('google', 'gemini-2.5-pro')).toMatchObject({
      generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } },
    });
  });

  it('of Anthropic stays within the most output tokens, which are always named', async () => {
    const model = 'claude-sonnet-4-5';
    expect(await bodyOf('anthropic', model, {}, { reasoningEffort: null })).toMatchObject({ max_tokens: 4096 });
    expect(await bodyOf('anthropic', model, { outputCeilingTokens: 9000 }, { reasoningEffort: null })).toMatchObject({
      max_tokens: 9000,
      temperature: 0.3,
    });
    expect(await bodyOf('anthropic', model, { maxOutputTokens: 20_000, outputCeilingTokens: 30_000 })).toMatchObject({
      max_tokens: 20_000,
      thinking: { type: 'enabled', budget_tokens: 10_000 },
    });
    expect(await bodyOf('anthropic', model)).toMatchObject({
      max_tokens: 4096 + 24_576,
      thinking: { type: 'enabled', budget_tokens: 24_576 },
    });
    expect(await bodyOf('anthropic', model, { maxOutputTokens: 1500 })).not.toHaveProperty('thinking');
    expect(await bodyOf('anthropic', 'claude-opus-4-6', { maxOutputTokens: 1500 })).toMatchObject({
      max_tokens: 1500,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    });
  });

  it('can be what only the vendor knows', async () => {
    const providerOptions = { cacheControl: { type: 'ephemeral' } };
    expect(await bodyOf('anthropic', 'claude-sonnet-4-5', {}, { providerOptions })).toMatchObject({
      cache_control: { type: 'ephemeral' },
    });
    expect(await bodyOf('openai-compatible', 'm', {}, { providerOptions: { top_k: 5 } })).toMatchObject({ top_k: 5 });
  });

  it('never lets OpenAI keep a conversation', async () => {
    expect(await bodyOf('openai-responses', 'gpt-4o', {}, { providerOptions: { store: true } })).toMatchObject({
      store: false,
    });
  });
});
