import { describe, expect, test } from 'vitest';
import { StorageError } from '../../../../src/core/ports/ledger.ts';
import { done, MemoryGateway, quiet } from '../../../support/memory-gateway.ts';

const start = '2030-01-01T00:00:00.000Z';
const inAMinute = '2030-01-01T00:01:00.000Z';
const inAnHour = '2030-01-01T01:00:00.000Z';

async function heldUntil(until: string | null) {
  const gateway = await MemoryGateway.started();
  const sessionId = await gateway.create();
  await hold(gateway, sessionId, until);
  await gateway.submit(sessionId, 'a');
  return { gateway, sessionId };
}

async function hold(gateway: MemoryGateway, sessionId: string, until: string | null): Promise<void> {
  done(await gateway.sessions.send(sessionId, { kind: 'hold', hold: { reason: 'pause', until, by: 'local' } }));
}

describe('a hold with an end', () => {
  test('keeps the queue until then, and not a moment longer', async () => {
    const { gateway, sessionId } = await heldUntil(inAMinute);

    await gateway.clock.advance(59_999);
    expect(gateway.admission(sessionId, 'a').status).toBe('queued');
    await gateway.clock.advance(1);

    expect((await gateway.ended(sessionId, 'a')).outcome).toBe('completed');
    expect(gateway.log(sessionId)).toContainEqual(expect.objectContaining({ type: 'session.released', by: 'timer' }));
  });

  test('outlives a restart and still ends', async () => {
    const { gateway: first, sessionId } = await heldUntil(inAMinute);
    const next = await MemoryGateway.started({ store: first.store });
    await quiet();
    expect(next.model.requests).toEqual([]);

    await next.clock.advance(60_000);

    expect((await next.ended(sessionId, 'a')).outcome).toBe('completed');
  });

  test('that has passed while no process ran ends at once', async () => {
    const { gateway: first, sessionId } = await heldUntil(inAMinute);
    const next = await MemoryGateway.owning({ store: first.store });
    next.clock.set(inAnHour);

    await next.gateway.start();

    expect((await next.ended(sessionId, 'a')).outcome).toBe('completed');
  });

  test.each([
    ['after the restart', start],
    ['while no process ran', inAnHour],
  ])('ends %s also where nothing waits', async (_when, restartedAt) => {
    const first = await MemoryGateway.started();
    const sessionId = await first.create();
    await hold(first, sessionId, inAMinute);
    const next = await MemoryGateway.owning({ store: first.store });
    next.clock.set(restartedAt);

    await next.gateway.start();
    await next.clock.advance(60_000);

    expect((await next.state(sessionId)).hold).toBeNull();
    expect(next.log(sessionId).at(-1)).toMatchObject({ type: 'session.released', by: 'timer' });
  });

  test('is not ended early by a clock that was set back', async () => {
    const { gateway, sessionId } = await heldUntil(inAMinute);
    await gateway.clock.advance(30_000);
    gateway.clock.set(start);

    await gateway.clock.advance(30_000);
    expect(gateway.admission(sessionId, 'a').status).toBe('queued');
    await gateway.clock.advance(30_000);

    expect((await gateway.ended(sessionId, 'a')).outcome).toBe('completed');
  });

  test('that is longer than any single sleep ends in its time', async () => {
    const { gateway, sessionId } = await heldUntil(inAnHour);

    await gateway.clock.advance(3_599_999);
    expect(gateway.admission(sessionId, 'a').status).toBe('queued');
    await gateway.clock.advance(1);

    expect((await gateway.ended(sessionId, 'a')).outcome).toBe('completed');
  });

  test('that was replaced by a longer one does not end it', async () => {
    const { gateway, sessionId } = await heldUntil(inAMinute);
    await hold(gateway, sessionId, inAnHour);

    await gateway.clock.advance(60_000);
    expect(gateway.admission(sessionId, 'a').status).toBe('queued');
    await gateway.clock.advance(3_540_000);

    expect((await gateway.ended(sessionId, 'a')).outcome).toBe('completed');
  });

  test('that was replaced by one without an end does not end it', async () => {
    const { gateway, sessionId } = await heldUntil(inAMinute);
    await hold(gateway, sessionId, null);

    await gateway.clock.advance(3_600_000);

    expect(gateway.admission(sessionId, 'a').status).toBe('queued');
  });

  test('that somebody has released leaves nothing behind', async () => {
    const { gateway, sessionId } = await heldUntil(inAMinute);
    done(await gateway.sessions.send(sessionId, { kind: 'release', by: 'local', until: null }));
    await gateway.ended(sessionId, 'a');
    await gateway.clock.advance(60_000);

    expect(gateway.story(sessionId).filter((type) => type === 'session.released')).toHaveLength(1);
  });

  test.each(['full', 'busy'] as const)('ends also when the storage is %s at its instant', async (kind) => {
    const { gateway, sessionId } = await heldUntil(inAMinute);
    gateway.ledger.failNext('append', new StorageError(kind, 'Not now.'));

    await gateway.clock.advance(60_000);
    await gateway.clock.advance(60_000);

    expect(gateway.admission(sessionId, 'a').outcome).toBe('completed');
  });
});
