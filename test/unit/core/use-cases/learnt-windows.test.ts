/* A window that a provider states is learnt, and nothing else is. */
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import { ScriptedModel, textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { failureOf } from '../../../../src/core/domain/model/failure.ts';
import { MemoryGateway } from '../../../support/memory-gateway.ts';
import { textOf } from './pressure.ts';

const large = { contextTokens: 100_000, outputTokens: 1000 };

/** An overflow of which the adapter says what it states. */
function overflow(contextTokens: number | null): Script {
  const learnt = contextTokens === null ? null : { contextTokens };
  return [{ kind: 'failed', failure: failureOf('context_overflow', 'Too long.'), learnt, usage: null }];
}

/** A session of about 1,300 tokens, whose model has just answered a request with an overflow. */
async function overflown(
  stated: number | null,
  options: { readonly clock?: FakeClock; readonly learntWindowSeconds?: number } = {},
) {
  const model = new ScriptedModel(({ purpose }) =>
    textAnswer(purpose === 'summary' ? 'SUMMARY' : textOf(200, 'answer')),
  );
  const gateway = await MemoryGateway.started({ model, window: large, ...options });
  const sessionId = await gateway.create();
  for (const inputId of ['a', 'b', 'c']) await gateway.turn(sessionId, inputId, textOf(200, inputId.repeat(3)));
  model.enqueue(overflow(stated));
  await gateway.turn(sessionId, 'overflow', 'And now?');
  return { gateway, sessionId, model };
}

async function windowOf(gateway: MemoryGateway, sessionId: string) {
  const snapshot = await gateway.gateway.readSnapshot({ sessionId, messageLimit: 1, before: null });
  const { windowTokens, windowSource } = snapshot?.context ?? {};
  return { windowTokens, windowSource };
}

describe('a smaller window that a provider states', () => {
  test('counts from then on, in this and in every other session of the model (B32, C14)', async () => {
    const { gateway, sessionId } = await overflown(2000);
    const other = await gateway.create();

    expect(await windowOf(gateway, sessionId)).toEqual({ windowTokens: 2000, windowSource: 'learnt' });
    expect(await windowOf(gateway, other)).toEqual({ windowTokens: 2000, windowSource: 'learnt' });
    expect(gateway.log(sessionId)).toContainEqual(
      expect.objectContaining({
        type: 'window.learnt',
        model: { provider: 'custom', model: 'test-model', baseUrl: null },
        windowTokens: 2000,
      }),
    );
  });

  test('is used by the next preflight', async () => {
    const { gateway, sessionId } = await overflown(2000);
    const asked = gateway.requests('summary').length;

    await gateway.turn(sessionId, 'next', textOf(1300, 'next'));

    expect(gateway.requests('summary').length).toBeGreaterThan(asked);
  });

  test('is known to the next owner', async () => {
    const { gateway, sessionId } = await overflown(2000);

    const next = await MemoryGateway.started({ store: gateway.store, window: large });

    expect(await windowOf(next, sessionId)).toEqual({ windowTokens: 2000, windowSource: 'learnt' });
  });

  test('is learnt by nobody, and no longer believed, where the configuration says so', async () => {
    const told = await overflown(2000);
    const deaf = await overflown(2000, { learntWindowSeconds: 0 });

    const next = await MemoryGateway.started({ store: told.gateway.store, window: large, learntWindowSeconds: 0 });

    const configured = { windowTokens: large.contextTokens, windowSource: 'configured' };
    expect(await windowOf(next, told.sessionId)).toEqual(configured);
    expect(await windowOf(deaf.gateway, deaf.sessionId)).toEqual(configured);
    expect(deaf.gateway.log(deaf.sessionId).map(({ type }) => type)).not.toContain('window.learnt');
  });

  test('is not that of another model, nor of another address', async () => {
    const { gateway } = await overflown(2000);

    expect(await windowOf(gateway, await gateway.create({ model: 'other-model' }))).toMatchObject({
      windowTokens: 100_000,
    });
    expect(await windowOf(gateway, await gateway.create({ baseUrl: 'http://127.0.0.1:2/v1' }))).toMatchObject({
      windowTokens: 100_000,
    });
  });

  test('is forgotten after a week: the server may have been started anew (C34)', async () => {
    const clock = new FakeClock();
    const { gateway, sessionId } = await overflown(2000, { clock });

    await clock.advance(8 * 24 * 3_600_000);

    expect(await windowOf(gateway, sessionId)).toMatchObject({ windowTokens: 100_000, windowSource: 'configured' });
  });
});

/** A session whose model has read about 3,000 tokens, as it reports them, and then states 2,000 in a refusal. */
async function contradicted(options: { readonly reported: number; readonly waitMs?: number }) {
  const clock = new FakeClock();
  const usage = { inputTokens: options.reported, outputTokens: 10, totalTokens: null };
  const model = new ScriptedModel(({ purpose }) => textAnswer(purpose === 'summary' ? 'SUMMARY' : 'Fine.', usage));
  const gateway = await MemoryGateway.started({ model, window: large, clock });
  const read = await gateway.create();
  await gateway.turn(read, 'read', textOf(3000, 'aaa'));
  await clock.advance(options.waitMs ?? 0);
  const sessionId = await gateway.create();
  model.enqueue(overflow(2000));
  await gateway.turn(sessionId, 'refused', textOf(1500, 'aaa'));
  return { gateway, sessionId };
}

describe('a number that the provider has just shown to be no window', () => {
  test('is not learnt: the model has read more', async () => {
    const { gateway, sessionId } = await contradicted({ reported: 3000 });

    expect(await windowOf(gateway, sessionId)).toEqual({ windowTokens: 100_000, windowSource: 'configured' });
  });

  test('is learnt after a day: the server may have been started anew', async () => {
    const { gateway, sessionId } = await contradicted({ reported: 3000, waitMs: 25 * 3_600_000 });

    expect(await windowOf(gateway, sessionId)).toEqual({ windowTokens: 2000, windowSource: 'learnt' });
  });

  test.each([
    ['says that it has read less than it was sent', 1500],
    ['reports nothing', 0],
  ])('is learnt where the provider %s', async (_what, reported) => {
    const { gateway, sessionId } = await contradicted({ reported });

    expect(await windowOf(gateway, sessionId)).toEqual({ windowTokens: 2000, windowSource: 'learnt' });
  });

  test('is learnt where it was reported of an input that cannot have been so large', async () => {
    const model = new ScriptedModel(() =>
      textAnswer('Fine.', { inputTokens: 1900, outputTokens: 1, totalTokens: null }),
    );
    const gateway = await MemoryGateway.started({ model, window: large });
    const sessionId = await gateway.create();
    await gateway.turn(sessionId, 'small', 'Hello');
    model.enqueue(overflow(1800));
    await gateway.turn(sessionId, 'refused', textOf(1500, 'aaa'));

    expect(await windowOf(gateway, sessionId)).toEqual({ windowTokens: 1800, windowSource: 'learnt' });
  });
});

test('a number that the refused request is far below is a quotation, and no session suffers for it', async () => {
  const model = new ScriptedModel(() => textAnswer('Fine.')).enqueue(overflow(300));
  const gateway = await MemoryGateway.started({ model, window: large });
  const sessionId = await gateway.create();

  await gateway.turn(sessionId, 'a', 'What does "maximum context length is 300 tokens" mean?');

  expect(await windowOf(gateway, sessionId)).toEqual({ windowTokens: 100_000, windowSource: 'configured' });
});

describe('nothing is learnt', () => {
  test.each([
    ['from an overflow without a number (C22)', null],
    ['from a number that is no smaller than the known one', 200_000],
  ])('%s', async (_what, stated) => {
    const { gateway, sessionId } = await overflown(stated);

    expect(await windowOf(gateway, sessionId)).toEqual({ windowTokens: 100_000, windowSource: 'configured' });
    expect(gateway.story(sessionId)).not.toContain('window.learnt');
  });
});

test('where nobody knows a window the stated one is taken, although it is larger than the guess (B32)', async () => {
  const model = new ScriptedModel(() => textAnswer('Fine.')).enqueue(overflow(32_000));
  const gateway = await MemoryGateway.started({ model, window: { contextTokens: 8192, source: 'default' } });
  const sessionId = await gateway.create();

  await gateway.turn(sessionId, 'a', textOf(20_000, 'aaa'));

  expect(await windowOf(gateway, sessionId)).toEqual({ windowTokens: 32_000, windowSource: 'learnt' });
});
