import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FailureEvidence } from '../../../../src/adapters/outbound/model/classify-failure.ts';
import { classifyFailure } from '../../../../src/adapters/outbound/model/classify-failure.ts';
import type { FailureKind } from '../../../../src/core/domain/model/failure.ts';
import { freshErrors } from './fresh-errors.ts';
import { holdOutErrors } from './hold-out-errors.ts';

interface ReportedError {
  readonly id: string;
  readonly provider: string;
  readonly status: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly kind: 'context_overflow' | 'rate_limit' | 'output_limit' | 'payload_size' | 'other';
}

const reportedErrors = JSON.parse(
  readFileSync(new URL('../../../fixtures/provider-errors.json', import.meta.url), 'utf8'),
) as readonly ReportedError[]; // Our own fixture; a wrong shape fails the tests below.

function evidence(overrides: Partial<FailureEvidence> = {}): FailureEvidence {
  return { status: 400, headers: {}, body: '', inStream: false, ...overrides };
}

function classify(overrides: Partial<FailureEvidence>) {
  return classifyFailure(evidence(overrides));
}

describe('each error that providers were reported to send', () => {
  const kinds = {
    context_overflow: 'context_overflow',
    rate_limit: 'rate_limited',
    output_limit: 'output_limit',
    payload_size: 'payload_too_large',
  } as const;
  /** What the records call "other" is one of two: a fault of the request, or one of the provider. */
  const providersOwn = ['PE103', 'PE114', 'PE115'];
  /** z.ai takes more than its window holds and says nothing: only who knows the window can tell. */
  const knownWindows: Readonly<Record<string, number>> = { PE063: 200_000 };

  function expectedKind({ id, kind }: ReportedError): FailureKind {
    if (kind !== 'other') return kinds[kind];
    return providersOwn.includes(id) ? 'unavailable' : 'bad_request';
  }

  it('is there', () => {
    expect(reportedErrors).toHaveLength(84);
  });

  it.each(reportedErrors.map((record) => [record.id, record.provider, expectedKind(record), record] as const))(
    '%s (%s) is %s (C8, C10, C11, C20, C23, C25, C26, C29, C38)',
    (id, _, kind, record) => {
      const windowTokens = knownWindows[id];
      const { failure } = classify({
        status: record.status,
        headers: record.headers ?? {},
        body: record.body,
        inStream: record.status === 200,
        ...(windowTokens !== undefined && { windowTokens }),
      });

      expect(failure.reason).toBe(kind);
      expect(failure.retryable).toBe(
        kind === 'unavailable' || (kind === 'rate_limited' && id !== 'PE004' && id !== 'PE015'),
      );
      expect(failure.message.length).toBeLessThan(520);
    },
  );

  it.each([
    ['PE001', 4097],
    ['PE006', 200_000],
    ['PE013', 1_048_576],
    ['PE020', 131_072],
    ['PE028', 256],
    ['PE034', 8192],
    ['PE036', 6000],
    ['PE037', 983_616],
    ['PE040', 262_144],
    ['PE044', 128_000],
    ['PE047', 4096],
    ['PE048', 262_144],
    ['PE053', 40_000],
    ['PE060', 131_072],
    ['PE071', 32_768],
    ['PE076', 272_000],
    ['PE084', 16_384],
    ['PE095', 2048],
    ['PE097', 4096],
    ['PE008', null],
    ['PE012', null],
    ['PE018', null],
    ['PE030', null],
    ['PE041', null],
    ['PE056', null],
    ['PE062', null],
    ['PE072', null],
    ['PE082', null],
    ['PE085', null],
    ['PE094', null],
    ['PE004', null],
    ['PE015', null],
    ['PE017', null],
  ] as const)('%s teaches the window %s (C14, C23, C34)', (id, window) => {
    const record = reportedErrors.find((each) => each.id === id);

    expect(classify({ status: record?.status ?? null, body: record?.body }).learnt).toEqual(
      window === null ? null : { contextTokens: window },
    );
  });

  it.each([
    ['PE117', 30_000],
    ['PE118', 1500],
    ['PE120', 0],
    ['PE121', 999_999_000],
    ['PE123', 3_600_000],
    ['PE017', 4770],
  ] as const)('%s asks to wait %i ms', (id, ms) => {
    const record = reportedErrors.find((each) => each.id === id);

    expect(
      classify({ status: record?.status ?? null, body: record?.body, headers: record?.headers ?? {} }).failure
        .retryAfterMs,
    ).toBe(ms);
  });
});

describe('an error that nobody has seen before', () => {
  it.each(
    [...freshErrors, ...holdOutErrors].map(
      (error) => [error[0], JSON.stringify(error[1]).slice(0, 200), error] as const,
    ),
  )('%s %s (C38)', (_status, _body, [status, body, kind, window]) => {
    const { failure, learnt } = classify({ status, body, inStream: status === 200 });

    expect(failure.reason).toBe(kind);
    if (window !== undefined) expect(learnt?.contextTokens ?? null).toBe(window);
    if (kind !== 'context_overflow' && kind !== 'output_limit') expect(learnt).toBeNull();
  });

  it('is classified in a moment, however it repeats the words that the tables look for', () => {
    const words = 'input prompt max_tokens tokens exceeds context messages tool image request limit must be 12345 > ';
    const startedAtMs = performance.now();

    classify({ body: words.repeat(3000) });
    classify({ body: { error: { message: 'prompt '.repeat(20_000) } } });

    expect(performance.now() - startedAtMs).toBeLessThan(1000);
  });
});

describe('what an error is wrapped in', () => {
  const overflow = { error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } };

  it.each<[string, unknown]>([
    ['JSON text', JSON.stringify(overflow)],
    ['a list', [overflow]],
    ['JSON text in a message', { error: { message: JSON.stringify(overflow), code: 400 } }],
    [
      'JSON text in JSON text in a message',
      { error: { message: JSON.stringify({ error: { message: JSON.stringify(overflow) } }) } },
    ],
    [
      'an aggregator, as text',
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: JSON.stringify(overflow) } } },
    ],
    [
      'an aggregator, as an object',
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: overflow } } },
    ],
    [
      'an aggregator, as words',
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: overflow.error.message } } },
    ],
    ['an exception', { detail: `ContextWindowExceededError: Hosted_vllmException - ${JSON.stringify(overflow)}` }],
    ['a status and a dash', `400 Bad Request - ${JSON.stringify(overflow)}`],
    ['a client of JSON-RPC', { code: -32603, message: 'Internal error', data: { details: overflow.error.message } }],
    [
      'a Python dictionary',
      "Error code: 400 - {'error': {'message': 'prompt is too long: 210000 tokens > 200000 maximum'}}",
    ],
  ])('%s is unwrapped (C31, C34)', (_, body) => {
    expect(classify({ body })).toMatchObject({
      failure: { reason: 'context_overflow' },
      learnt: { contextTokens: 200_000 },
    });
  });

  it('does not hide its own words from the operator', () => {
    const { failure } = classify({
      body: { error: { message: 'Provider returned error', metadata: { raw: JSON.stringify(overflow) } } },
    });

    expect(failure.message).toBe(
      "The request doesn't fit the model's context window of 200000 tokens (HTTP 400): prompt is too long: 210000 tokens > 200000 maximum",
    );
  });

  it('ends somewhere, also when it is endless', () => {
    let body: unknown = 'prompt is too long: 9000 tokens > 8192 maximum';
    for (let depth = 0; depth < 50; depth += 1) body = { error: body };

    expect(classify({ body }).failure.reason).toBe('bad_request');
  });
});

describe('what decides', () => {
  const overflowText = 'prompt is too long: 9000 tokens > 8192 maximum';

  it('is the structured code before the text', () => {
    expect(classify({ body: { error: { message: overflowText, code: 'rate_limit_exceeded' } } }).failure.reason).toBe(
      'rate_limited',
    );
    expect(
      classify({ body: { error: { message: 'odd words', code: 'context_length_exceeded' } } }).failure.reason,
    ).toBe('context_overflow');
  });

  it("is an exception's name before the text (C11)", () => {
    expect(classify({ status: null, body: `ThrottlingException: ${overflowText}` }).failure.reason).toBe(
      'rate_limited',
    );
  });

  it('is the text before a vague code or a status of 5xx (C13)', () => {
    expect(
      classify({ status: 500, body: { error: { message: overflowText, type: 'server_error' } } }).failure.reason,
    ).toBe('context_overflow');
  });

  it('is the first of several errors (C32)', () => {
    const first = 'messages.3: tool_use ids were found without tool_result blocks';
    expect(classify({ body: `${first}. Error doing the fallback: ${overflowText}` }).failure.reason).toBe(
      'bad_request',
    );
    expect(classify({ body: `${overflowText}. Error doing the fallback: ${first}` }).failure.reason).toBe(
      'context_overflow',
    );
    expect(classify({ body: { errors: [{ message: first }, { message: overflowText }] } }).failure.reason).toBe(
      'bad_request',
    );
  });

  it('is never what a user wrote and the error repeats (B34)', () => {
    const detail = [
      {
        type: 'string_type',
        loc: ['body', 'messages', 0],
        msg: 'Input should be a valid string',
        input: { text: overflowText },
        ctx: { error: overflowText },
      },
    ];

    expect(classify({ status: 422, body: { detail } }).failure.reason).toBe('bad_request');
    expect(
      classify({ body: { error: { message: 'bad', param: overflowText }, request: { messages: [overflowText] } } })
        .failure.reason,
    ).toBe('bad_request');
  });

  it('is never what an answer says (B34)', () => {
    const body = { choices: [{ message: { content: overflowText }, finish_reason: 'stop' }] };

    expect(classify({ status: 200, body }).failure.reason).not.toBe('context_overflow');
  });

  it('is the number inside the body when the HTTP status is 200', () => {
    const { failure } = classify({
      status: 200,
      inStream: true,
      body: { error: { code: '503', message: 'no worker' } },
    });

    expect(failure).toMatchObject({ reason: 'unavailable', providerStatus: 503, retryable: true });
  });
});

describe('a request that blames input and output together', () => {
  const both = (prompt: number, output: number, window: number) =>
    `This model's maximum context length is ${String(window)} tokens. However, you requested ${String(prompt + output)} tokens (${String(prompt)} in the messages, ${String(output)} in the completion).`;

  it('is an overflow while the prompt is the larger part', () => {
    expect(classify({ body: both(3118, 1000, 4096) }).failure.reason).toBe('context_overflow');
  });

  it('is a matter of the output when the prompt is short, and the window is learnt for the next try (C4)', () => {
    expect(classify({ body: both(568, 6048, 6144) })).toMatchObject({
      failure: { reason: 'output_limit' },
      learnt: { contextTokens: 6144 },
    });
  });

  it("is an overflow when the prompt's size is only a lower bound (C1)", () => {
    const body =
      "This model's maximum context length is 131072 tokens. However, you requested 128000 output tokens and your prompt contains at least 3073 input tokens, for a total of at least 131073 tokens.";

    expect(classify({ body })).toMatchObject({
      failure: { reason: 'context_overflow' },
      learnt: { contextTokens: 131_072 },
    });
  });

  it('is an overflow when the "too large" output leaves no room because the prompt fills the window', () => {
    const body =
      "'max_tokens' is too large: 100. This model's maximum context length is 4096 tokens and your request has 5000 input tokens.";

    expect(classify({ body }).failure.reason).toBe('context_overflow');
  });
});

describe('a limit of tokens per minute', () => {
  it('that one request alone passes is not worth waiting for (C5, C7)', () => {
    const { failure } = classify({
      status: 429,
      body: 'Request too large for x on tokens per min (TPM): Limit 30000, Requested 342389.',
    });

    expect(failure).toMatchObject({ reason: 'rate_limited', retryable: false });
    expect(failure.message).toContain('waiting');
  });

  it('that is only used up for now is', () => {
    const { failure } = classify({
      status: 429,
      body: 'Rate limit reached on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443. Please try again in 4.77s.',
    });

    expect(failure).toMatchObject({ reason: 'rate_limited', retryable: true, retryAfterMs: 4770 });
  });
});

describe('the message', () => {
  it('is one line of bounded length', () => {
    const { failure } = classify({ body: { error: { message: `bad\n\t${'words '.repeat(500)}` } } });

    expect(failure.message).not.toMatch(/[\n\t]/);
    expect(failure.message.length).toBeLessThan(400);
    expect(failure.message).toMatch(/…$/);
  });

  it.each([
    ['a known secret', 'the key hunter2-hunter2 is wrong', 'hunter2-hunter2'],
    ['an API key', 'Incorrect API key provided: sk-proj-Abcdefgh12345678.', 'Abcdefgh12345678'],
    ['a bearer token', 'header was Bearer abc.def-ghi.jkl', 'abc.def-ghi'],
    ['a Google key', 'key AIzaSyA1234567890abcdefghijklmnopqrstu is invalid', 'AIzaSyA'],
    ['a web token', 'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc is expired', 'eyJhbGci'],
    ['a password in an address', 'cannot reach https://user:secret@host/v1', 'user:secret'],
  ])('never holds %s', (_, text, secret) => {
    const { failure } = classify({ status: 401, body: { error: { message: text } }, secrets: ['hunter2-hunter2'] });

    expect(failure.message).not.toContain(secret);
  });

  it('says what to do when there are no words at all', () => {
    expect(classify({ status: 429 }).failure.message).toBe('The provider limits the rate of requests (HTTP 429).');
  });
});

describe('what a server quotes of a conversation', () => {
  const quoted = "This model's maximum context length is 300 tokens. However, your messages resulted in 9000 tokens.";

  it.each<[string, Partial<FailureEvidence>, FailureKind]>([
    [
      'behind the position where its parser stopped (llama.cpp)',
      { status: 500, body: { error: { code: 500, message: `Failed to parse input at pos 14: <|channel|>${quoted}` } } },
      'unavailable',
    ],
    [
      'behind that position, as JSON of its own',
      {
        status: 500,
        body: { error: { message: `Failed to parse input at pos 0: {"error":{"message":"${quoted}"}}` } },
      },
      'unavailable',
    ],
    [
      'as the last that was read',
      {
        body: { error: { message: `[json.exception.parse_error.101] parse error at line 1; last read: '"${quoted}'` } },
      },
      'bad_request',
    ],
    [
      'as the input of a validator, in Python’s form (vLLM)',
      {
        body: {
          message: `[{'type': 'string_type', 'loc': ('body', 'messages', 0), 'msg': 'Input should be a valid string', 'input': "${quoted}"}]`,
          code: 400,
        },
      },
      'bad_request',
    ],
    [
      'as the value of a validator',
      {
        body: { detail: `Input should be a valid string [type=string_type, input_value="${quoted}", input_type=str]` },
      },
      'bad_request',
    ],
  ])('is not taken for its own words: %s', (_where, body, reason) => {
    const { failure, learnt } = classify(body);

    expect({ reason: failure.reason, learnt }).toEqual({ reason, learnt: null });
    expect(failure.message).not.toContain('maximum context');
  });
});
