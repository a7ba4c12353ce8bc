/* Too many compressions: the rule that keeps a session from summarising at every turn, and what it must not break. */
import { describe, expect, test } from 'vitest';
import { failedWith, textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { addSeconds } from '../../../../src/core/domain/instant.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';
import { MemoryGateway } from '../../../support/memory-gateway.ts';
import { aModel, smallWindow, textOf, underPressure } from './pressure.ts';

/** A session in which each of three turns in a row was compressed. */
async function afterThree(options: MemoryGatewayOptions = {}) {
  const gateway = await MemoryGateway.started({ model: aModel(), window: smallWindow, ...options });
  const sessionId = await gateway.create();
  await gateway.turn(sessionId, 'first', textOf(600, 'first'));
  for (const inputId of ['a', 'b', 'c']) await gateway.turn(sessionId, inputId, textOf(600, inputId));
  return { gateway, sessionId };
}

describe('three automatic compressions within three turns', () => {
  test('open the breaker for a minute, and the event of the third says so', async () => {
    const { gateway, sessionId } = await afterThree();

    const completed = gateway.log(sessionId).filter(({ type }) => type === 'compression.completed');
    expect(completed).toMatchObject([{ opensBreaker: false }, { opensBreaker: false }, { opensBreaker: true }]);
    expect((await gateway.state(sessionId)).lineage.breaker).toEqual({
      failures: 1,
      openUntil: addSeconds(completed[2]?.at ?? '', 60),
      reason: 'frequent',
      recent: [2, 3, 4],
    });
  });

  test('are shown where the session is looked at', async () => {
    const { gateway, sessionId } = await afterThree();

    const snapshot = await gateway.gateway.readSnapshot({ sessionId, messageLimit: 1, before: null });

    expect(snapshot?.context.breaker).toMatchObject({ reason: 'frequent', failures: 1 });
    expect((await gateway.gateway.status()).breakers).toMatchObject([{ sessionId, reason: 'frequent' }]);
  });

  test('let what still fits the window run as it is', async () => {
    const { gateway, sessionId } = await afterThree();

    const ended = await gateway.turn(sessionId, 'fits', textOf(190, 'fits'));

    expect(ended.outcome).toBe('completed');
    expect(gateway.requests('summary')).toHaveLength(3);
  });

  test('never fail a turn that a compression can save', async () => {
    const { gateway, sessionId } = await afterThree();

    const ended = await gateway.turn(sessionId, 'large', textOf(600, 'large'));

    expect(ended.outcome).toBe('completed');
    expect(gateway.requests('summary')).toHaveLength(4);
    expect((await gateway.state(sessionId)).lineage.breaker).toMatchObject({ failures: 2, reason: 'frequent' });
  });

  test('are remembered by the next owner', async () => {
    const { gateway, sessionId } = await afterThree();

    const next = await MemoryGateway.started({ store: gateway.store, window: smallWindow, model: aModel() });

    expect((await next.state(sessionId)).lineage.breaker).toMatchObject({ reason: 'frequent', recent: [2, 3, 4] });
  });

  test('count as three only while no turn without one lies between', async () => {
    const { gateway, sessionId } = await underPressure();
    for (const inputId of ['a', 'b', 'c']) {
      await gateway.turn(sessionId, inputId, textOf(600, inputId));
      await gateway.turn(sessionId, `${inputId} short`, 'Short.');
    }

    expect((await gateway.state(sessionId)).lineage.breaker.openUntil).toBeNull();
  });
});

describe('after a failure', () => {
  test('a request that fits no window fails its turn for that reason, and says what fills the window (B35)', async () => {
    const { gateway, sessionId } = await underPressure({ model: aModel(() => [failedWith('unavailable', 'Down.')]) });

    const ended = await gateway.turn(sessionId, 'large', textOf(600, 'large'));
    const again = await gateway.turn(sessionId, 'again', textOf(600, 'again'));

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason: 'unavailable' } });
    expect(ended.failure?.message).toMatch(/does not fit the window of 1000 tokens .*Down\./);
    expect(again.failure).toMatchObject({ reason: 'compression_failed', retryable: true, retryAfterMs: 60_000 });
    expect(gateway.requests('summary')).toHaveLength(1);
  });
});

describe('with compression off', () => {
  test('nothing is summarised, whatever happens', async () => {
    const { gateway, sessionId } = await underPressure({ policy: { enabled: false } });

    await gateway.turn(sessionId, 'large', textOf(600, 'large'));
    gateway.model.enqueue([failedWith('context_overflow', 'too long')]);
    const refused = await gateway.turn(sessionId, 'overflow', textOf(20, 'small'));

    expect(refused.failure?.reason).toBe('context_exhausted');
    expect(gateway.requests('summary')).toEqual([]);
    expect(gateway.story(sessionId).filter((type) => type.startsWith('compression'))).toEqual([]);
  });
});

describe('a system prompt that fills the window by itself', () => {
  test('fails the turn with a reason of its own, before anything is sent or summarised (C37)', async () => {
    const gateway = await MemoryGateway.started({ model: aModel(), window: smallWindow });
    const sessionId = await gateway.create({ systemPrompt: textOf(1200, 'rule') });

    const ended = await gateway.turn(sessionId, 'a', 'Hello');

    expect(ended).toMatchObject({ outcome: 'failed', boundary: 'none', failure: { reason: 'window_too_small' } });
    expect(ended.failure?.message).toMatch(/system prompt and the tools alone fill the window of 1000 tokens/);
    expect(gateway.model.requests).toEqual([]);
  });

  test('is nobody’s fault while the window is only a guess: the provider is asked', async () => {
    const gateway = await MemoryGateway.started({ model: aModel(), window: { ...smallWindow, source: 'default' } });
    const sessionId = await gateway.create({ systemPrompt: textOf(1200, 'rule') });

    expect((await gateway.turn(sessionId, 'a', 'Hello')).outcome).toBe('completed');
  });
});

describe('a compression by hand', () => {
  test('closes an open breaker when it succeeds', async () => {
    const { gateway, sessionId } = await afterThree();
    await gateway.turn(sessionId, 'more', textOf(150, 'more'));

    const outcome = await gateway.gateway.byHand.compress({
      sessionId,
      principalId: 'local',
      requestId: 'by hand',
      focus: null,
      keepLast: 0,
    });

    expect(outcome.kind).toBe('compressed');
    expect((await gateway.state(sessionId)).lineage.breaker).toEqual({
      failures: 0,
      openUntil: null,
      reason: null,
      recent: [],
    });
  });

  test('opens none when it fails', async () => {
    const { gateway, sessionId } = await underPressure();
    gateway.model.enqueue(textAnswer(''));

    const outcome = await gateway.gateway.byHand.compress({
      sessionId,
      principalId: 'local',
      requestId: 'by hand',
      focus: null,
      keepLast: 0,
    });

    expect(outcome.kind).toBe('failed');
    expect((await gateway.state(sessionId)).lineage.breaker.openUntil).toBeNull();
  });
});
