import { describe, expect, test } from 'vitest';
import { textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { done, MemoryGateway, quiet } from '../../../support/memory-gateway.ts';

const never = new AbortController().signal;

/** A gateway whose first turn runs and whose second prompt waits. */
async function busy() {
  const gateway = await MemoryGateway.started();
  const sessionId = await gateway.create();
  gateway.model.enqueue([
    { kind: 'text', text: 'I begin' },
    { kind: 'gate', name: 'answer' },
    ...textAnswer(' and end'),
  ]);
  await gateway.submit(sessionId, 'a');
  await gateway.submit(sessionId, 'b');
  await gateway.model.reached('answer');
  let drained = false;
  const drain = (drainMs: number, hurry: AbortSignal = never): Promise<void> =>
    gateway.gateway.drain(drainMs, hurry).then(() => void (drained = true));
  return { gateway, sessionId, drain, isDrained: () => drained };
}

describe('a drain', () => {
  test('with nothing to wait for ends at once', async () => {
    const gateway = await MemoryGateway.started();

    await gateway.gateway.drain(10_000, never);

    expect(gateway.clock.sleeping).toBe(0);
  });

  test('lets a running turn finish within its time', async () => {
    const { gateway, sessionId, drain, isDrained } = await busy();
    const end = drain(10_000);
    await gateway.clock.advance(9000);
    expect(isDrained()).toBe(false);

    gateway.model.release('answer');
    await end;

    expect(gateway.admission(sessionId, 'a')).toMatchObject({ outcome: 'completed', stopRequested: null });
  });

  test('stops what still runs when its time is over, and settles it', async () => {
    const { gateway, sessionId, drain } = await busy();
    const end = drain(10_000);

    await gateway.clock.advance(10_000);
    await end;

    expect(gateway.admission(sessionId, 'a')).toMatchObject({
      outcome: 'interrupted',
      stopRequested: { by: 'shutdown' },
    });
    expect(await gateway.texts(sessionId)).toEqual(['user: prompt a', 'assistant: I begin']);
  });

  test('in a hurry stops it at once', async () => {
    const { gateway, sessionId, drain } = await busy();
    const hurry = new AbortController();
    const end = drain(10_000, hurry.signal);
    await gateway.clock.advance(100);

    hurry.abort();
    await end;

    expect(gateway.admission(sessionId, 'a').outcome).toBe('interrupted');
  });

  test('that is in a hurry from the beginning does not wait', async () => {
    const { gateway, sessionId, drain } = await busy();

    await drain(10_000, AbortSignal.abort());

    expect(gateway.admission(sessionId, 'a').outcome).toBe('interrupted');
  });

  test('leaves what waits untouched, and starts nothing more', async () => {
    const { gateway, sessionId, drain } = await busy();
    const before = gateway.admission(sessionId, 'b');
    const end = drain(10_000);
    gateway.model.release('answer');
    await end;
    await quiet();

    expect(gateway.admission(sessionId, 'b')).toEqual(before);
    expect(gateway.model.requests).toHaveLength(1);
  });

  test('refuses new prompts from its first moment, and answers known ones', async () => {
    const { gateway, sessionId, drain } = await busy();
    const end = drain(10_000);

    const fresh = await gateway.trySubmit(sessionId, 'c', { text: 'c', parts: null });
    const waiting = await gateway.trySubmit(sessionId, 'b', { text: 'prompt b', parts: null });

    expect(fresh).toEqual({ kind: 'refused', refusal: { reason: 'draining' } });
    expect(done(waiting)).toMatchObject({ duplicate: true, admission: { status: 'queued' } });
    expect(gateway.gateway.phase()).toBe('draining');
    gateway.model.release('answer');
    await end;
  });

  test('leaves a store whose next owner has nothing to recover and goes on with the queue', async () => {
    const { gateway, sessionId, drain } = await busy();
    const end = drain(0);
    await gateway.clock.advance(1000);
    await end;

    const successor = await MemoryGateway.owning({ store: gateway.store });
    const report = await successor.gateway.start();
    await successor.ended(sessionId, 'b');

    expect(report).toEqual({ sessions: 1, requeued: 0, lost: 0, ended: 0 });
    expect(successor.model.requests).toHaveLength(1);
  });

  test('stops a turn whose claim was on its way when it began', async () => {
    let drain: Promise<void> | undefined;
    const gateway = await MemoryGateway.started({
      failpoints: {
        hit: (name) => {
          if (name === 'claim.after_commit') drain ??= gateway.gateway.drain(0, never);
        },
      },
    });
    const sessionId = await gateway.create();
    gateway.model.enqueue([{ kind: 'hang' }]);
    await gateway.submit(sessionId, 'a');
    await quiet();

    await gateway.clock.advance(1000);
    await drain;

    expect(gateway.admission(sessionId, 'a').outcome).toBe('interrupted');
  });
});

test('a drain that comes before the gateway was started keeps it from running anything', async () => {
  const first = await MemoryGateway.owning();
  const sessionId = await first.create();
  await first.submit(sessionId, 'a');

  await first.gateway.drain(0, never);
  await first.gateway.start();
  await quiet();

  expect(first.model.requests).toEqual([]);
  expect(first.admission(sessionId, 'a').status).toBe('queued');
});
