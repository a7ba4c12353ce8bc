import { describe, expect, it } from 'vitest';
import {
  cutAfter,
  endsWithoutFinish,
  errorAnswer,
  errorInStream,
  frames,
  rawStream,
  textAnswer,
} from '../../support/loopback-model/answers.ts';
import { aKey, aRig, endOf, failureOf, textOf } from './harness.ts';

/* The rows of the table "The model layer when things go wrong", and the reports about streams, each as a sentence. */

const chunk = (delta: object, finishReason: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason: finishReason, ...more }],
});

describe('an answer with an error status', () => {
  it('400 context_length_exceeded is an overflow, and the stated window is learnt', async () => {
    const message =
      "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.";
    const { ask } = await aRig(
      errorAnswer(400, { error: { message, type: 'invalid_request_error', code: 'context_length_exceeded' } }),
    );

    const end = endOf(await ask());

    expect(end).toMatchObject({
      kind: 'failed',
      failure: { reason: 'context_overflow', retryable: false, providerStatus: 400, retryAfterMs: null },
      learnt: { contextTokens: 4096 },
      usage: null,
    });
  });

  it.each<[Readonly<Record<string, string>>, number | null]>([
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after-ms': '1500' }, 1500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '86400' }, 86_400_000],
    [{ 'retry-after': '2abc' }, null],
    [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
    [{}, null],
  ])('429 with %o is a rate limit with a delay of %s ms (D22)', async (headers, expected) => {
    const { ask } = await aRig(errorAnswer(429, { error: { message: 'slow down', type: 'requests' } }, headers));

    expect(failureOf(await ask())).toMatchObject({
      reason: 'rate_limited',
      retryable: true,
      retryAfterMs: expected,
      providerStatus: 429,
    });
  });

  it("429 with Google's RetryInfo in the body is a rate limit with its delay", async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' }];
    const { ask } = await aRig(
      errorAnswer(429, [
        { error: { code: 429, message: 'Resource exhausted', status: 'RESOURCE_EXHAUSTED', details } },
      ]),
    );

    expect(failureOf(await ask())).toMatchObject({ reason: 'rate_limited', retryAfterMs: 17_000 });
  });

  it('429 for an empty account is terminal, and 429 for hours says for how long (D23)', async () => {
    const { ask, model } = await aRig();
    model.enqueue(
      errorAnswer(429, { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }),
      errorAnswer(429, '', { 'retry-after': '14400' }),
    );

    expect(failureOf(await ask())).toMatchObject({ reason: 'quota_exhausted', retryable: false });
    expect(failureOf(await ask())).toMatchObject({ reason: 'rate_limited', retryAfterMs: 14_400_000 });
  });

  it('401 is a refused key, and neither the key nor another secret is in the message', async () => {
    const { ask } = await aRig(
      errorAnswer(401, {
        error: { message: `Incorrect API key provided: ${aKey}. See Bearer ${aKey}`, code: 'invalid_api_key' },
      }),
    );

    const failure = failureOf(await ask());

    expect(failure).toMatchObject({ reason: 'auth', retryable: false, providerStatus: 401 });
    expect(failure.message).not.toContain(aKey);
    expect(failure.message).not.toContain('0123456789abcdef');
  });

  it('an error page of a proxy is an error by its status (C26)', async () => {
    const { ask, model } = await aRig();
    const page = '<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>';
    model.enqueue(
      errorAnswer(413, page, { 'content-type': 'text/html' }),
      errorAnswer(502, '<html><title>502 Bad Gateway</title></html>', { 'content-type': 'text/html' }),
    );

    expect(failureOf(await ask())).toMatchObject({ reason: 'payload_too_large', retryable: false });
    expect(failureOf(await ask())).toMatchObject({ reason: 'unavailable', retryable: true });
  });

  it('an endless error body is cut', async () => {
    const { ask } = await aRig(async (call) => {
      call.response.writeHead(500, { 'content-type': 'text/plain' });
      while (!call.isClosed) {
        if (!call.response.write('x'.repeat(65_536))) await new Promise((resolve) => setTimeout(resolve, 1));
      }
    });

    const failure = failureOf(await ask());

    expect(failure.reason).toBe('unavailable');
    expect(failure.message.length).toBeLessThan(500);
  });
});

describe('an answer of 200 that is none', () => {
  it("a JSON error is the vendor's own error", async () => {
    const { ask } = await aRig(
      errorAnswer(200, { error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } }),
    );

    expect(endOf(await ask())).toMatchObject({
      kind: 'failed',
      failure: { reason: 'context_overflow' },
      learnt: { contextTokens: 200_000 },
    });
  });

  it('a web page is no API', async () => {
    const { ask } = await aRig(
      errorAnswer(200, '<!doctype html><html><title>Hotel Wi-Fi</title></html>', { 'content-type': 'text/html' }),
    );

    const failure = failureOf(await ask());

    expect(failure).toMatchObject({ reason: 'not_an_api', retryable: false });
    expect(failure.message).toContain('Hotel Wi-Fi');
  });

  it.each([
    ['JSON of something else', { models: [] }],
    ['plain text', 'It works!'],
  ])('%s is no API', async (_, body) => {
    const { ask } = await aRig(errorAnswer(200, body));

    expect(failureOf(await ask())).toMatchObject({ reason: 'not_an_api' });
  });

  it('an empty body is a cut-off', async () => {
    const { ask } = await aRig(errorAnswer(200, ''));

    expect(failureOf(await ask())).toMatchObject({ reason: 'cut_off', retryable: true });
  });
});

describe('a stream that breaks', () => {
  it('by a cut connection is a cut-off, and what was said stays said', async () => {
    const { ask } = await aRig(cutAfter('Half of it'));

    const events = await ask();

    expect(textOf(events)).toBe('Half of it');
    expect(failureOf(events)).toMatchObject({ reason: 'cut_off', retryable: true });
  });

  it('by a clean end without a finish reason is a cut-off', async () => {
    const { ask } = await aRig(endsWithoutFinish('Half of it'));

    const events = await ask();

    expect(textOf(events)).toBe('Half of it');
    expect(failureOf(events)).toMatchObject({ reason: 'cut_off', retryable: true });
  });

  it('by an end mark without a finish reason is a cut-off', async () => {
    const { ask } = await aRig(frames([chunk({ content: 'Half' })]));

    expect(failureOf(await ask()).reason).toBe('cut_off');
  });

  it('in the middle of a frame is a cut-off', async () => {
    const { ask } = await aRig(
      rawStream([`data: ${JSON.stringify(chunk({ content: 'Half' }))}\n\n`, 'data: {"choices":[{"del']),
    );

    const events = await ask();

    expect(textOf(events)).toBe('Half');
    expect(failureOf(events).reason).toBe('cut_off');
  });

  it('by one frame that is no JSON is damaged, although it goes on to a finish', async () => {
    const { ask } = await aRig(
      rawStream([
        `data: ${JSON.stringify(chunk({ content: 'Ye' }))}\n\n`,
        'data: {"choices": [oops\n\n',
        `data: ${JSON.stringify(chunk({ content: 's' }, 'stop'))}\n\n`,
      ]),
    );

    const failure = failureOf(await ask());

    expect(failure).toMatchObject({ reason: 'cut_off' });
    expect(failure.message).toContain('oops');
  });

  it('by a frame that echoes the key says nothing of it, also where the frame is cut', async () => {
    const { ask } = await aRig(rawStream([`data: ${'x'.repeat(192)} ${aKey} oops\n\n`]));

    const { message } = failureOf(await ask());

    expect(message).toContain('xxx');
    expect(message).not.toContain('sk-');
  });

  it('before the headers is an unavailable provider', async () => {
    const { ask } = await aRig((call) => call.cut());

    expect(failureOf(await ask())).toMatchObject({ reason: 'unavailable', retryable: true });
  });

  // F59
  it.each([
    ['text', { content: 'x'.repeat(1000) }],
    ['reasoning', { reasoning_content: 'x'.repeat(1000) }],
    ['arguments', { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: 'x'.repeat(1000) } }] }],
  ])('by endless %s is ended at the limit', async (_, delta) => {
    const { ask, model } = await aRig(
      async (call) => {
        while (!call.isClosed) {
          call.delta(delta);
          await call.sleep(0);
        }
      },
      { maxOutputBytes: 20_000 },
    );

    const failure = failureOf(await ask());

    expect(failure).toMatchObject({ reason: 'cut_off', retryable: false });
    expect(failure.message).toContain('20000 bytes');
    await expect.poll(() => model.openCallCount).toBe(0);
  });

  it('by one frame without an end is ended at the limit', async () => {
    const { ask } = await aRig(
      async (call) => {
        call.raw('data: ');
        while (!call.isClosed) {
          call.raw('x'.repeat(1000));
          await call.sleep(0);
        }
      },
      { maxOutputBytes: 20_000 },
    );

    expect(failureOf(await ask())).toMatchObject({ reason: 'cut_off', retryable: false });
  });
});

describe('an error inside a stream of 200', () => {
  it.each<[string, unknown, object]>([
    [
      'with a number as its code',
      {
        choices: [],
        error: { code: 429, message: 'Provider returned error', metadata: { error_type: 'rate_limit_exceeded' } },
      },
      { reason: 'rate_limited', retryable: true, providerStatus: 429 },
    ],
    [
      'with a text as its code',
      { error: { code: '502', message: 'Provider returned error' } },
      { reason: 'unavailable', retryable: true, providerStatus: 502 },
    ],
    [
      'with a type only',
      { choices: [], error: { message: 'Provider returned error', metadata: { error_type: 'provider_unavailable' } } },
      { reason: 'unavailable', retryable: true },
    ],
    [
      'that is an overflow',
      { error: { message: 'prompt is too long: 9000 tokens > 8192 maximum' } },
      { reason: 'context_overflow', retryable: false },
    ],
    [
      'that is a bare text',
      { error: 'Rate limit reached, try again in 2.5s' },
      { reason: 'rate_limited', retryAfterMs: 2500 },
    ],
    [
      'without the wrapper',
      { object: 'error', message: 'boom', type: 'InternalServerError', code: 500 },
      { reason: 'unavailable', providerStatus: 500 },
    ],
    [
      'on the choice',
      { choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { code: 503, message: 'no worker' } }] },
      { reason: 'unavailable', providerStatus: 503 },
    ],
  ])('%s is that error, and the text before it stays (D11, D13)', async (_, error, expected) => {
    const { ask } = await aRig(errorInStream(error, 'So far'));

    const events = await ask();

    expect(textOf(events)).toBe('So far');
    expect(failureOf(events)).toMatchObject(expected);
  });

  it('in a frame of its own name is that error', async () => {
    const { ask } = await aRig(
      rawStream(['event: error\ndata: {"type":"overloaded_error","message":"Overloaded"}\n\n']),
    );

    expect(failureOf(await ask())).toMatchObject({ reason: 'unavailable', retryable: true });
  });

  it('is never looked for in what the model says', async () => {
    const text = 'Error: prompt is too long: 9000 tokens > 8192 maximum, context_length_exceeded, rate limit';
    const { ask } = await aRig(textAnswer(text));

    const events = await ask();

    expect(textOf(events)).toBe(text);
    expect(endOf(events).kind).toBe('finished');
  });
});

describe('an end that is none', () => {
  it('with a native finish reason that is an error and no content is a failure (D14)', async () => {
    const { ask } = await aRig(frames([chunk({ content: '' }, 'stop', { native_finish_reason: 'network_error' })]));

    expect(failureOf(await ask())).toMatchObject({ reason: 'unavailable', retryable: true });
  });

  it('with a native finish reason that is no error is an end', async () => {
    const { ask } = await aRig(frames([chunk({ content: 'Yes' }, 'stop', { native_finish_reason: 'end_turn' })]));

    expect(endOf(await ask()).kind).toBe('finished');
  });

  it('by the window is an overflow', async () => {
    const { ask } = await aRig(frames([chunk({ content: '' }, 'model_context_window_exceeded')]));

    expect(failureOf(await ask())).toMatchObject({ reason: 'context_overflow', retryable: false });
  });

  it('at the length with no token said is an overflow that the server hid (C19)', async () => {
    const usage = { prompt_tokens: 131_072, completion_tokens: 0, total_tokens: 131_072 };
    const { ask } = await aRig(frames([{ choices: [{ delta: {}, finish_reason: 'length' }], usage }]));

    expect(endOf(await ask())).toMatchObject({ failure: { reason: 'context_overflow' }, learnt: null });
  });

  it('by the content filter with no word said is a refusal of the request', async () => {
    const { ask } = await aRig(frames([chunk({ content: '' }, 'content_filter')]));

    expect(failureOf(await ask())).toMatchObject({ reason: 'content_filtered', retryable: false });
  });

  it('by the reason "error" is a failure', async () => {
    const { ask } = await aRig(frames([chunk({}, 'error')]));

    expect(failureOf(await ask())).toMatchObject({ reason: 'unavailable' });
  });
});
