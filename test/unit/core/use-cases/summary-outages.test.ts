/* A compression that nobody can make is no prompt's fault: those that wait for it are kept, and run when it can be made. */
import { describe, expect, test } from 'vitest';
import { FixedCatalog } from '../../../../src/adapters/outbound/memory/fixed-catalog.ts';
import {
  failedWith,
  ScriptedModel,
  textAnswer,
  toolAnswer,
} from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { failureOf } from '../../../../src/core/domain/model/failure.ts';
import type { Failure, FailureKind } from '../../../../src/core/domain/model/failure.ts';
import type { ModelRequest } from '../../../../src/core/ports/model-provider.ts';
import { aToolCall } from '../../../support/builders.ts';
import type { MemoryGateway, MemoryGatewayOptions } from '../../../support/memory-gateway.ts';
import { aModel, textOf, underPressure } from './pressure.ts';

const fails = (reason: FailureKind, more: Partial<Failure> = {}): Script => [
  { kind: 'failed', failure: failureOf(reason, `It said ${reason}.`, more), learnt: null, usage: null },
];
const target = (provider: string, model: string) => ({ provider, model, baseUrl: null });

/** Three prompts that fit the window after a compression only, while summaries are as they are told. */
async function threeWaiting(summary: (request: ModelRequest) => Script, options: MemoryGatewayOptions = {}) {
  const world = await underPressure({ model: aModel(summary), onOutage: 'hold', ...options });
  for (const inputId of ['a', 'b', 'c'])
    await world.gateway.submit(world.sessionId, inputId, textOf(500, `prompt ${inputId}`));
  await world.gateway.ended(world.sessionId, 'a');
  return world;
}

function outcomes(gateway: MemoryGateway, sessionId: string) {
  return ['a', 'b', 'c'].map((inputId) => {
    const { status, outcome, failure } = gateway.admission(sessionId, inputId);
    return failure?.reason ?? outcome ?? status;
  });
}

describe('a refused key', () => {
  test('fails one prompt with that reason, and the others wait for a person', async () => {
    let key = 'expired';
    const { gateway, sessionId } = await threeWaiting(() =>
      key === 'expired' ? fails('auth') : textAnswer('SUMMARY'),
    );
    await gateway.clock.advance(3_600_000);

    expect(outcomes(gateway, sessionId)).toEqual(['auth', 'queued', 'queued']);
    expect(gateway.admission(sessionId, 'a').failure).toMatchObject({ retryable: false });
    expect(gateway.admission(sessionId, 'a').failure?.message).toMatch(
      /does not fit the window of 1000 tokens .*There is no summary\. custom\/test-model: It said auth\./,
    );
    expect((await gateway.state(sessionId)).hold).toMatchObject({ reason: 'outage:auth', until: null });
    expect(gateway.requests('summary')).toHaveLength(1);

    key = 'new';
    await gateway.sessions.send(sessionId, { kind: 'release', by: 'local', until: null });
    expect((await gateway.ended(sessionId, 'c')).outcome).toBe('completed');
    expect(outcomes(gateway, sessionId)).toEqual(['auth', 'completed', 'completed']);
  });

  test('can be followed at once when a person releases the queue: no breaker is in the way', async () => {
    let key = 'expired';
    const { gateway, sessionId } = await threeWaiting(() =>
      key === 'expired' ? fails('auth') : textAnswer('SUMMARY'),
    );

    key = 'new';
    await gateway.sessions.send(sessionId, { kind: 'release', by: 'local', until: null });

    expect((await gateway.ended(sessionId, 'b')).outcome).toBe('completed');
  });

  test('of the summary model does not keep an outage of the session’s own from passing', async () => {
    const { gateway, sessionId } = await threeWaiting(
      ({ target: { model } }) => fails(model === 'aux' ? 'auth' : 'unavailable'),
      { summaryTarget: target('other', 'aux') },
    );

    expect(gateway.admission(sessionId, 'a').failure?.message).toContain(
      'There is no summary. other/aux: It said auth. custom/test-model: It said unavailable.',
    );
    expect((await gateway.state(sessionId)).hold).toMatchObject({
      reason: 'outage:unavailable',
      until: expect.any(String) as string,
    });
  });
});

describe('an outage that passes', () => {
  test('holds the queue until the next compression is tried, and then lets it go on by itself', async () => {
    let isDown = true;
    const { gateway, sessionId } = await threeWaiting(() =>
      isDown ? fails('rate_limited', { retryAfterMs: 5000 }) : textAnswer('SUMMARY'),
    );
    const { hold, lineage } = await gateway.state(sessionId);

    expect(outcomes(gateway, sessionId)).toEqual(['rate_limited', 'queued', 'queued']);
    expect(hold).toMatchObject({ reason: 'outage:rate_limited', until: lineage.breaker.openUntil });
    isDown = false;
    await gateway.clock.advance(60_000);
    expect((await gateway.ended(sessionId, 'c')).outcome).toBe('completed');
    expect(outcomes(gateway, sessionId)).toEqual(['rate_limited', 'completed', 'completed']);
  });

  test('holds the queue for longer when it has lasted for a while', async () => {
    const { gateway, sessionId } = await threeWaiting(() => fails('unavailable'));

    await gateway.clock.advance(60_000);
    await gateway.ended(sessionId, 'b');

    const { hold, lineage } = await gateway.state(sessionId);
    expect(lineage.breaker.failures).toBe(2);
    expect(hold?.until).toBe(lineage.breaker.openUntil);
  });

  test.each<[string, Script]>([
    ['whose answers are empty', textAnswer('')],
    ['which hangs', fails('stalled')],
    ['which refuses what is in the conversation', fails('content_filtered')],
    ['whose answers break off', fails('cut_off')],
  ])('is also a model %s: one prompt fails, the others wait', async (_what, script) => {
    const { gateway, sessionId } = await threeWaiting(() => script);

    expect(outcomes(gateway, sessionId).slice(1)).toEqual(['queued', 'queued']);
    const { hold, lineage } = await gateway.state(sessionId);
    expect(hold?.until).toBe(lineage.breaker.openUntil);
  });

  test('meets prompts that come while the breaker is open with its end, and holds them', async () => {
    const { gateway, sessionId } = await underPressure({ model: aModel(() => fails('unavailable')), onOutage: 'hold' });
    await gateway.turn(sessionId, 'alone', textOf(500, 'prompt'));
    for (const inputId of ['a', 'b', 'c']) await gateway.submit(sessionId, inputId, textOf(500, `prompt ${inputId}`));
    await gateway.ended(sessionId, 'a');

    expect(outcomes(gateway, sessionId)).toEqual(['compression_failed', 'queued', 'queued']);
    const { hold, lineage } = await gateway.state(sessionId);
    expect(hold).toMatchObject({ reason: 'outage:compression_failed', until: lineage.breaker.openUntil });
    expect(gateway.requests('summary')).toHaveLength(1);
  });

  test('after an overflow keeps the followers too', async () => {
    const { gateway, sessionId } = await underPressure({ onOutage: 'hold' });
    gateway.model.enqueue([failedWith('context_overflow', 'too long')], fails('auth'));
    for (const inputId of ['a', 'b', 'c']) await gateway.submit(sessionId, inputId, textOf(20, inputId));
    await gateway.ended(sessionId, 'a');

    expect(outcomes(gateway, sessionId)).toEqual(['auth', 'queued', 'queued']);
  });
});

describe('a summary', () => {
  const patient = { maxAttempts: 4, baseDelayMs: 1000, maxDelayMs: 10_000, maxTotalMs: 60_000 };

  test('is asked for once more after a failure in passing', async () => {
    let asked = 0;
    const busy = fails('unavailable', { retryable: true });
    const { gateway, sessionId } = await underPressure({
      model: aModel(() => ((asked += 1) === 1 ? busy : textAnswer('SUMMARY'))),
      retry: patient,
    });
    await gateway.submit(sessionId, 'next', textOf(500, 'prompt'));
    await gateway.model.requested(4);
    await gateway.clock.advance(1000);

    expect((await gateway.ended(sessionId, 'next')).outcome).toBe('completed');
    expect(asked).toBe(2);
  });

  test('is asked for no third time', async () => {
    const { gateway, sessionId } = await underPressure({
      model: aModel(() => fails('unavailable', { retryable: true })),
      retry: patient,
    });
    await gateway.submit(sessionId, 'next', textOf(500, 'prompt'));
    await gateway.model.requested(4);
    for (let n = 0; n < 5; n += 1) await gateway.clock.advance(10_000);

    expect(gateway.admission(sessionId, 'next').failure?.reason).toBe('unavailable');
    expect(gateway.requests('summary')).toHaveLength(2);
  });

  test('is asked of the fallbacks when the session’s model cannot answer', async () => {
    const { gateway, sessionId } = await underPressure({
      model: aModel(({ target: { model } }) => (model === 'second' ? textAnswer('SUMMARY') : fails('unavailable'))),
      fallbacksOf: ({ model }) => (model === 'test-model' ? [target('other', 'second')] : []),
    });

    expect((await gateway.turn(sessionId, 'next', textOf(500, 'prompt'))).outcome).toBe('completed');
    expect(gateway.requests('summary').map(({ target: { model } }) => model)).toEqual(['test-model', 'second']);
  });

  test('that a model refuses for what it holds is asked of no fallback', async () => {
    const { gateway, sessionId } = await underPressure({
      model: aModel(() => fails('content_filtered')),
      fallbacksOf: () => [target('other', 'second')],
    });

    await gateway.turn(sessionId, 'next', textOf(500, 'prompt'));

    expect(gateway.requests('summary')).toHaveLength(1);
  });
});

describe('a turn that can’t be made smaller', () => {
  /** One step asks for so many calls at once that their results alone fill the window: they belong together. */
  const manyCalls = toolAnswer(
    Array.from({ length: 9 }, (_, index) => aToolCall({ id: `call-${String(index)}`, name: textOf(100, 'tool') })),
  );

  test('fails for its size, and what waits behind it is compressed at once and runs', async () => {
    const { gateway, sessionId } = await underPressure({ onOutage: 'hold' });
    gateway.model.enqueue(manyCalls);
    for (const inputId of ['a', 'b', 'c']) await gateway.submit(sessionId, inputId, textOf(20, inputId));
    await gateway.ended(sessionId, 'c');

    expect(outcomes(gateway, sessionId)).toEqual(['context_exhausted', 'completed', 'completed']);
    expect(gateway.requests('summary')).toHaveLength(1);
    expect(gateway.admission(sessionId, 'a').failure?.message).toContain('Nothing can be summarised');
  });
});

test('two models that refuse a session that has moved hold its queue until the one that passes may be back', async () => {
  const limits = (contextTokens: number) => ({ contextTokens, outputTokens: 100, source: 'configured' }) as const;
  const model = new ScriptedModel(({ purpose, target: { model: name } }) =>
    purpose === 'turn' ? textAnswer(textOf(100, 'answer')) : fails(name === 'test-model' ? 'auth' : 'rate_limited'),
  );
  const { gateway, sessionId } = await underPressure({
    model,
    onOutage: 'hold',
    catalog: new FixedCatalog(limits(10_000), { small: limits(300) }),
  });
  await gateway.sessions.send(sessionId, {
    kind: 'update',
    by: 'local',
    revision: null,
    changes: { model: target('custom', 'small') },
  });
  for (const inputId of ['a', 'b', 'c']) await gateway.submit(sessionId, inputId, 'Go on.');
  await gateway.ended(sessionId, 'a');

  expect(outcomes(gateway, sessionId)).toEqual(['rate_limited', 'queued', 'queued']);
  expect((await gateway.state(sessionId)).hold?.until).toEqual(expect.any(String));
});
