import { describe, expect, test } from 'vitest';
import { ApproximateTokenCounter } from '../../../../src/adapters/outbound/memory/approximate-token-counter.ts';
import { CountingIds } from '../../../../src/adapters/outbound/memory/counting-ids.ts';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import { FixedCatalog } from '../../../../src/adapters/outbound/memory/fixed-catalog.ts';
import { ScriptedModel, textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { SessionCommand } from '../../../../src/core/domain/session/commands.ts';
import { metaOf } from '../../../../src/core/domain/transcript/message.ts';
import type { SessionState } from '../../../../src/core/domain/session/state.ts';
import { noFailpoints } from '../../../../src/core/ports/failpoints.ts';
import { StorageError } from '../../../../src/core/ports/ledger.ts';
import { makeCompressor } from '../../../../src/core/use-cases/compressor.ts';
import type { CompressInput, CompressorDependencies } from '../../../../src/core/use-cases/compressor.ts';
import type { Sent, Sessions } from '../../../../src/core/use-cases/sessions.ts';
import { aMessage } from '../../../support/builders.ts';
import { stateAfter } from '../../../support/given.ts';
import { created, queued, started } from '../../../support/history.ts';
import { aPolicy } from '../../../support/memory-gateway.ts';
import { textOf } from './pressure.ts';

const messages = [1, 2, 3, 4, 5, 6].map((id) =>
  aMessage({ id, tokens: 150, text: textOf(150, `m${String(id)}`), ...(id % 2 === 0 ? answer() : {}) }),
);
const state: SessionState = { ...stateAfter(created(), queued(1), started(1)), messages: messages.map(metaOf) };

function answer() {
  return { role: 'assistant', kind: 'answer' } as const;
}

const input: CompressInput = {
  sessionId: 'session-1',
  admissionId: 'admission-1',
  executionGeneration: 1,
  trigger: 'preflight',
  triggerTokens: 800,
  extras: { systemTokens: 10, toolTokens: 0, promptTokens: 20 },
  promptPending: true,
  target: { provider: 'custom', model: 'test-model', baseUrl: null },
  signal: new AbortController().signal,
};

const done: Sent<never> = { kind: 'done', reply: null as never }; // nobody looks at it
const refused: Sent<never> = { kind: 'refused', refusal: { reason: 'stop_requested' } };
const unavailable: Sent<never> = { kind: 'unavailable', outcomeUnknown: true };

/** A compressor whose commands are answered as a test says, by their kind; every one is kept. */
function aCompressor(
  answers: Partial<Record<SessionCommand['kind'], Sent<never>>> = {},
  overrides: Partial<CompressorDependencies> & { state?: SessionState | null } = {},
) {
  const sent: SessionCommand[] = [];
  const model = new ScriptedModel(() => textAnswer('SUMMARY', { inputTokens: 100, outputTokens: 5, totalTokens: 105 }));
  const sessions: Sessions = {
    send: async (_sessionId, command) => {
      sent.push(command as SessionCommand); // a command of any kind
      return answers[command.kind] ?? done;
    },
    state: async () => (overrides.state === undefined ? state : overrides.state),
    idOf: async (id) => id,
  };
  const compress = makeCompressor({
    sessions,
    transcripts: { read: async () => messages, observe: () => undefined },
    provider: model,
    catalog: new FixedCatalog({ contextTokens: 1000, outputTokens: 100, source: 'configured' }),
    tokens: new ApproximateTokenCounter(),
    ids: new CountingIds('id'),
    failpoints: noFailpoints,
    policy: aPolicy,
    summaryTarget: null,
    clock: new FakeClock(),
    learnWindow: async () => undefined,
    summaryDeadlineMs: 60_000,
    retry: { maxAttempts: 1, baseDelayMs: 0, maxDelayMs: 0, maxTotalMs: 0 },
    jitter: () => 0,
    fallbacksOf: () => [],
    mask: (text) => text,
    onProgress: () => undefined,
    ...overrides,
  });
  return { compress, sent, model };
}

describe('a compression', () => {
  test('is begun, summarised and committed, with what it cost', async () => {
    const { compress, sent } = aCompressor();

    expect(await compress(input)).toEqual({ kind: 'compressed' });

    expect(sent).toMatchObject([
      {
        kind: 'start_compression',
        compressionId: 'id-1',
        trigger: 'preflight',
        executionGeneration: 1,
        tokensBefore: 930,
      },
      {
        kind: 'rotate',
        compressionId: 'id-1',
        executionGeneration: 1,
        childTranscript: 'id-2',
        summary: { kind: 'summary', role: 'user', text: 'SUMMARY', admissionId: null },
        tokensBefore: 930,
        model: 'test-model',
        usage: { inputTokens: 100, outputTokens: 5, totalTokens: 105 },
      },
    ]);
  });

  test('says how large the rebuilt context is, with all that a request carries', async () => {
    const { compress, sent } = aCompressor();
    await compress(input);

    const rotate = sent.find((command) => command.kind === 'rotate');
    const kept = (rotate?.plan.head.length ?? 0) + (rotate?.plan.tail.length ?? 0);

    expect(rotate?.tokensAfter).toBe(kept * 150 + (rotate?.summary.tokens ?? 0) + 30);
  });

  test('in place has no child', async () => {
    const { compress, sent } = aCompressor({}, { policy: { ...aPolicy, inPlace: true } });
    await compress(input);

    expect(sent.at(-1)).toMatchObject({ kind: 'rotate', childTranscript: null });
  });

  test('stores no thinking that stands before the summary', async () => {
    const { compress, sent, model } = aCompressor();
    model.enqueue(textAnswer('<think>They want\na summary.</think>\n\nThe user wants a parser.'));
    await compress(input);

    expect(sent.at(-1)).toMatchObject({ kind: 'rotate', summary: { text: 'The user wants a parser.' } });
  });

  test.each(['<think>They want a summary.</think>', '<thinking>They want'])('is not made of %j', async (thinking) => {
    const { compress, sent, model } = aCompressor();
    model.enqueue(textAnswer(thinking));

    expect((await compress(input)).kind).toBe('failed');
    expect(sent.at(-1)).toMatchObject({ kind: 'fail_compression', failure: { reason: 'compression_failed' } });
  });

  test('adds up what every rung has cost', async () => {
    const { compress, sent, model } = aCompressor({}, { policy: { ...aPolicy, protectFirstN: 0, protectLastN: 1 } });
    const usage = { inputTokens: 100, outputTokens: 300, totalTokens: 400 };
    model.enqueue(textAnswer(textOf(400, 'long'), usage), textAnswer('SUMMARY', usage));

    expect(await compress(input)).toEqual({ kind: 'compressed' });

    expect(sent.at(-1)).toMatchObject({
      kind: 'rotate',
      usage: { inputTokens: 200, outputTokens: 600, totalTokens: 800 },
    });
  });
});

describe('a compression is given up', () => {
  test('without a trace when the session is gone', async () => {
    const { compress, sent } = aCompressor({}, { state: null });

    expect(await compress(input)).toEqual({ kind: 'abandoned' });
    expect(sent).toEqual([]);
  });

  test.each([
    ['stopped', refused],
    ['about to end with its process', unavailable],
  ])('without a request when its turn was %s before it began', async (_what, answered) => {
    const { compress, sent, model } = aCompressor({ start_compression: answered });

    expect(await compress(input)).toEqual({ kind: 'abandoned' });
    expect([sent.length, model.requests]).toEqual([1, []]);
  });

  test('when its turn was stopped before the commit, and says so', async () => {
    const { compress, sent } = aCompressor({ rotate: refused });

    expect(await compress(input)).toEqual({ kind: 'abandoned' });
    expect(sent.at(-1)).toMatchObject({
      kind: 'fail_compression',
      failure: { reason: 'aborted' },
      opensBreaker: false,
    });
  });

  test('when the process is about to stop: what became of the commit is unknown, and nothing more is said', async () => {
    const { compress, sent } = aCompressor({ rotate: unavailable });

    expect(await compress(input)).toEqual({ kind: 'abandoned' });
    expect(sent.map(({ kind }) => kind)).toEqual(['start_compression', 'rotate']);
  });

  test('when its turn is stopped while the summary is asked for', async () => {
    const controller = new AbortController();
    const { compress, sent, model } = aCompressor();
    model.enqueue([{ kind: 'gate', name: 'summary' }]);

    const outcome = compress({ ...input, signal: controller.signal });
    await model.reached('summary');
    controller.abort();

    expect(await outcome).toEqual({ kind: 'abandoned' });
    expect(sent.at(-1)).toMatchObject({
      kind: 'fail_compression',
      failure: { reason: 'aborted' },
      opensBreaker: false,
    });
  });
});

test('where nothing can be summarised nobody is asked and nothing starts, so that no breaker opens (B1)', async () => {
  const huge = aMessage({ id: 1, tokens: 5000 });
  const { compress, sent, model } = aCompressor({}, { state: { ...state, messages: [metaOf(huge)] } });

  const outcome = await compress({ ...input, promptPending: false });

  expect(outcome).toMatchObject({ kind: 'failed', failure: { reason: 'compression_failed' }, noSummary: false });
  expect(model.requests).toEqual([]);
  expect(sent).toEqual([]);
});

describe('a compression whose transcript is not there any more', () => {
  const transcripts = {
    read: () => Promise.reject(new StorageError('corrupt', 'Message 1 is not there')),
    observe: () => undefined,
  };

  test('fails as the storage does', async () => {
    const { compress, model } = aCompressor({}, { transcripts });

    await expect(compress(input)).rejects.toThrow(StorageError);
    expect(model.requests).toHaveLength(0);
  });

  test('is abandoned where it was stopped: what came after it may have compressed it', async () => {
    const { compress, model } = aCompressor({}, { transcripts });

    expect(await compress({ ...input, signal: AbortSignal.abort() })).toEqual({ kind: 'abandoned' });
    expect(model.requests).toHaveLength(0);
  });
});
