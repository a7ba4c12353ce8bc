import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../../src/core/domain/model/failure.ts';
import type { FailureKind } from '../../../../src/core/domain/model/failure.ts';
import { textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { MemoryGateway } from '../../../support/memory-gateway.ts';

function failing(reason: FailureKind, retryable: boolean, retryAfterMs: number | null = null): Script {
  const failure = failureOf(reason, 'It failed.', { retryable, retryAfterMs });
  return [{ kind: 'failed', failure, learnt: null, usage: null }];
}

const patient = { maxAttempts: 3, baseDelayMs: 1000, maxDelayMs: 10_000, maxTotalMs: 60_000 };

describe('a model that fails in passing', () => {
  test('is asked again, and the prompt is stored once', async () => {
    const gateway = await MemoryGateway.started({ retry: patient });
    const sessionId = await gateway.create();
    gateway.model.enqueue(failing('unavailable', true), failing('rate_limited', true, 3000), textAnswer('At last.'));
    await gateway.submit(sessionId, 'a');
    await gateway.clock.advance(1000);
    await gateway.clock.advance(3000);

    expect(gateway.model.requests).toHaveLength(3);
    expect(gateway.admission(sessionId, 'a').outcome).toBe('completed');
    const prompts = (await gateway.transcript(sessionId)).filter(({ kind }) => kind === 'prompt');
    expect(prompts).toHaveLength(1);
  });

  test('is not asked again after a stop: the turn ends as interrupted at once', async () => {
    const gateway = await MemoryGateway.started({ retry: patient });
    const sessionId = await gateway.create();
    gateway.model.enqueue(failing('unavailable', true));
    await gateway.submit(sessionId, 'a');
    await gateway.happened(sessionId, ({ type }) => type === 'turn.started');
    await gateway.clock.advance(0);
    await gateway.interrupt(sessionId);

    expect(await gateway.ended(sessionId, 'a')).toMatchObject({ outcome: 'interrupted' });
    expect(gateway.model.requests).toHaveLength(1);
  });
});

test('a model that only ever thinks is asked again a few times; then its turn fails, and the follower runs (D16, D17)', async () => {
  const thinks: Script = [
    { kind: 'reasoning', text: 'I should say something.' },
    { kind: 'finished', finishReason: 'stop', usage: null, parts: null },
  ];
  const gateway = await MemoryGateway.started({ retry: patient });
  const sessionId = await gateway.create();
  gateway.model.enqueue(thinks, thinks, thinks);
  await Promise.all([gateway.submit(sessionId, 'a'), gateway.submit(sessionId, 'b')]);
  for (let n = 0; n < 5; n += 1) await gateway.clock.advance(10_000);

  expect(gateway.admission(sessionId, 'a')).toMatchObject({ outcome: 'failed', failure: { reason: 'empty_reply' } });
  expect(gateway.admission(sessionId, 'b').outcome).toBe('completed');
  expect(gateway.model.requests).toHaveLength(patient.maxAttempts + 1);
  expect((await gateway.texts(sessionId)).join('\n')).not.toContain('I should say something.');
});

describe('an outage', () => {
  test('holds the queue until it may have passed, and then lets it go on by itself (D23)', async () => {
    const gateway = await MemoryGateway.started({ onOutage: 'hold' });
    const sessionId = await gateway.create();
    gateway.model.enqueue(failing('unavailable', true));
    await Promise.all([gateway.submit(sessionId, 'a'), gateway.submit(sessionId, 'b')]);
    await gateway.clock.advance(0);

    expect(gateway.admission(sessionId, 'a').outcome).toBe('failed');
    expect((await gateway.sessions.state(sessionId))?.hold).toMatchObject({ reason: 'outage:unavailable' });
    expect(gateway.model.requests).toHaveLength(1);

    gateway.model.enqueue(textAnswer('Back again.'));
    await gateway.clock.advance(60_000);
    expect(gateway.admission(sessionId, 'b').outcome).toBe('completed');
    expect((await gateway.sessions.state(sessionId))?.hold).toBeNull();
  });

  test('that needs a person holds the queue until somebody releases it', async () => {
    const gateway = await MemoryGateway.started({ onOutage: 'hold' });
    const sessionId = await gateway.create();
    gateway.model.enqueue(failing('auth', false));
    await Promise.all([gateway.submit(sessionId, 'a'), gateway.submit(sessionId, 'b')]);
    await gateway.clock.advance(3_600_000);

    expect((await gateway.sessions.state(sessionId))?.hold).toMatchObject({ reason: 'outage:auth', until: null });
    expect(gateway.model.requests).toHaveLength(1);
    gateway.model.enqueue(textAnswer('With the new key.'));
    await gateway.sessions.send(sessionId, { kind: 'release', by: 'local', until: null });
    await gateway.clock.advance(0);
    expect(gateway.admission(sessionId, 'b').outcome).toBe('completed');
  });

  test('holds nothing when nobody waits, and nothing for a failure that is the prompt’s own', async () => {
    const gateway = await MemoryGateway.started({ onOutage: 'hold' });
    const sessionId = await gateway.create();
    gateway.model.enqueue(failing('auth', false), failing('bad_request', false), textAnswer('Fine.'));
    await gateway.submit(sessionId, 'a');
    await gateway.clock.advance(0);
    expect((await gateway.sessions.state(sessionId))?.hold).toBeNull();
    await Promise.all([gateway.submit(sessionId, 'b'), gateway.submit(sessionId, 'c')]);
    await gateway.clock.advance(0);
    expect(gateway.admission(sessionId, 'c').outcome).toBe('completed');
  });
});

describe('a hold with an end', () => {
  test('ends by itself, also in the next process', async () => {
    const first = await MemoryGateway.started();
    const sessionId = await first.create();
    const until = '2030-01-01T01:00:00.000Z';
    await first.sessions.send(sessionId, { kind: 'hold', hold: { reason: 'lunch', until, by: 'local' } });
    await first.submit(sessionId, 'a');

    const second = await MemoryGateway.started({ store: first.store, clock: first.clock });
    second.model.enqueue(textAnswer('Back.'));
    await second.clock.advance(2 * 3_600_000);
    expect(second.admission(sessionId, 'a').outcome).toBe('completed');
  });

  test('does not end a later hold', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    const hold = { reason: 'lunch', until: '2030-01-01T00:10:00.000Z', by: 'local' };
    await gateway.sessions.send(sessionId, { kind: 'hold', hold });
    await gateway.sessions.send(sessionId, { kind: 'hold', hold: { ...hold, until: null, reason: 'for good' } });
    await gateway.clock.advance(3_600_000);
    expect((await gateway.sessions.state(sessionId))?.hold).toMatchObject({ reason: 'for good' });
  });
});
