import { describe, expect, test } from 'vitest';
import { failedWith, textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { failureOf } from '../../../../src/core/domain/model/failure.ts';
import type { FailureKind } from '../../../../src/core/domain/model/failure.ts';
import type { ModelTarget } from '../../../../src/core/ports/model-provider.ts';
import { aToolCall } from '../../../support/builders.ts';
import { MemoryGateway } from '../../../support/memory-gateway.ts';

const target = (provider: string, model: string): ModelTarget => ({ provider, model, baseUrl: null });
const second = target('other', 'second');
const third = target('third', 'third');
const fails = (reason: FailureKind, message = 'no'): Script => [failedWith(reason, message)];

async function aGateway(scripts: readonly Script[], fallbacks = [second, third], options = {}) {
  const gateway = await MemoryGateway.started({
    fallbacksOf: ({ provider }) => (provider === 'custom' ? fallbacks : []),
    ...options,
  });
  const sessionId = await gateway.create();
  gateway.model.enqueue(...scripts);
  const asked = () => gateway.requests('turn').map((request) => request.target.model);
  return { gateway, sessionId, asked };
}

describe('a model that cannot answer', () => {
  test.each<FailureKind>(['rate_limited', 'quota_exhausted', 'unavailable', 'auth', 'stalled', 'empty_reply'])(
    'for %s gives way to the next one, and the answer says who gave it',
    async (reason) => {
      const { gateway, sessionId, asked } = await aGateway([fails(reason), textAnswer('From the second.')]);

      const ended = await gateway.turn(sessionId, 'a', 'Hello');

      expect(ended.outcome).toBe('completed');
      expect(asked()).toEqual(['test-model', 'second']);
      expect((await gateway.transcript(sessionId)).at(-1)).toMatchObject({
        text: 'From the second.',
        answeredBy: { provider: 'other', model: 'second' },
      });
      expect(gateway.logger.lines).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          fields: expect.objectContaining({ to: 'other/second', reason }) as unknown,
        }),
      );
    },
  );

  test.each<FailureKind>(['bad_request', 'context_overflow', 'payload_too_large', 'content_filtered', 'internal'])(
    'for %s, which another would not answer either, ends the turn',
    async (reason) => {
      const { gateway, sessionId, asked } = await aGateway([fails(reason)], undefined, { policy: { enabled: false } });

      const ended = await gateway.turn(sessionId, 'a', 'Hello');

      expect(ended.outcome).toBe('failed');
      expect(asked()).toEqual(['test-model']);
    },
  );

  test('after something of the step was heard has failed, although another one is there', async () => {
    const heard: Script = [{ kind: 'text', text: 'Well' }, failedWith('unavailable', 'gone')];
    const thought: Script = [{ kind: 'reasoning', text: 'Hm' }, failedWith('unavailable', 'gone')];
    for (const script of [heard, thought]) {
      const { gateway, sessionId, asked } = await aGateway([script]);

      expect((await gateway.turn(sessionId, 'a', 'Hello')).outcome).toBe('failed');
      expect(asked()).toEqual(['test-model']);
    }
  });

  test('is tried again first, as often as the retry policy says', async () => {
    const busy: Script = [
      { kind: 'failed', failure: failureOf('unavailable', 'busy', { retryable: true }), learnt: null, usage: null },
    ];
    const { gateway, sessionId, asked } = await aGateway([busy, busy, busy, textAnswer('Fine.')], undefined, {
      retry: { maxAttempts: 2, baseDelayMs: 0, maxDelayMs: 0, maxTotalMs: 1000 },
    });

    expect((await gateway.turn(sessionId, 'a', 'Hello')).outcome).toBe('completed');
    expect(asked()).toEqual(['test-model', 'test-model', 'second', 'second']);
  });

  test('leaves the rest of the turn to the one that answered, and gets the next turn', async () => {
    const { gateway, sessionId, asked } = await aGateway([
      fails('rate_limited'),
      toolAnswer([aToolCall()]),
      textAnswer('Done.'),
    ]);

    await gateway.turn(sessionId, 'a', 'Hello');
    await gateway.turn(sessionId, 'b', 'Again');

    expect(asked()).toEqual(['test-model', 'second', 'second', 'test-model']);
  });

  test('is not taken for the one that answered, so that who could read the transcript is known', async () => {
    const { gateway, sessionId } = await aGateway([fails('rate_limited'), textAnswer('From the second.')]);

    await gateway.turn(sessionId, 'a', 'Hello');
    expect((await gateway.state(sessionId)).answeredBy).toEqual(second);

    await gateway.turn(sessionId, 'b', 'Again');
    expect((await gateway.state(sessionId)).answeredBy).toEqual(target('custom', 'test-model'));
  });

  test('and whose fallbacks cannot either fails with its own reason, and says what the last one said', async () => {
    const { gateway, sessionId, asked } = await aGateway([
      fails('rate_limited', 'Slow down.'),
      fails('unavailable', 'Closed.'),
      fails('auth', 'Who are you?'),
    ]);

    const ended = await gateway.turn(sessionId, 'a', 'Hello');

    expect(ended).toMatchObject({
      outcome: 'failed',
      failure: { reason: 'rate_limited', message: 'Slow down. The last fallback failed too: Who are you?' },
    });
    expect(asked()).toEqual(['test-model', 'second', 'third']);
  });

  test('does not give way to one whose window is too small for the request', async () => {
    const limits = (of: ModelTarget) => ({
      contextTokens: of.model === 'second' ? 5 : 100_000,
      outputTokens: null,
      source: 'configured' as const,
    });
    const { gateway, sessionId, asked } = await aGateway([fails('auth'), textAnswer('From the third.')], undefined, {
      catalog: { limits },
    });

    expect((await gateway.turn(sessionId, 'a', 'Hello there, everybody')).outcome).toBe('completed');
    expect(asked()).toEqual(['test-model', 'third']);
  });
});

describe('an answer whose length a provider refuses', () => {
  test('is asked for once more, and shorter', async () => {
    const { gateway, sessionId } = await aGateway([fails('output_limit'), textAnswer('Short.')], [], {
      maxOutputTokens: 50_000,
    });

    expect((await gateway.turn(sessionId, 'a', 'Hello')).outcome).toBe('completed');
    expect(gateway.requests('turn').map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([50_000, 4096]);
  });

  test('twice ends the turn', async () => {
    const { gateway, sessionId } = await aGateway([fails('output_limit'), fails('output_limit')], []);

    expect(await gateway.turn(sessionId, 'a', 'Hello')).toMatchObject({
      outcome: 'failed',
      failure: { reason: 'output_limit' },
    });
  });
});
