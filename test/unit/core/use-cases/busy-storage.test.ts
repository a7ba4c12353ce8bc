import { describe, expect, test } from 'vitest';
import { textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { StorageError } from '../../../../src/core/ports/ledger.ts';
import { MemoryGateway, quiet } from '../../../support/memory-gateway.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';

const busy = (times: number): readonly StorageError[] =>
  Array.from({ length: times }, () => new StorageError('busy', 'Locked.'));

/** More often than anything is tried in these tests. */
const forLong = busy(100);

const never = new AbortController().signal;

/** A gateway in which the only place is taken, by a turn that ends when its answer is released. */
async function aFullGateway(options: MemoryGatewayOptions = {}) {
  const gateway = await MemoryGateway.started({ maxConcurrentTurns: 1, maxLoadedSessions: 1, ...options });
  const first = await gateway.create();
  gateway.model.enqueue([{ kind: 'gate', name: 'answer' }, ...textAnswer('Fine.')]);
  await gateway.submit(first, 'a');
  await gateway.model.reached('answer');
  return { gateway, first };
}

/** One more session with a prompt, which no actor has in memory when its turn comes. */
async function aForgottenSession(gateway: MemoryGateway): Promise<string> {
  const sessionId = await gateway.create();
  await gateway.submit(sessionId, 'a');
  await gateway.create();
  return sessionId;
}

describe('a read of a turn that fails because the storage is busy', () => {
  test.each(['readPayload', 'readTranscript'] as const)(
    'at %s does not end the process: nothing was written and it may be tried again',
    async (call) => {
      const gateway = await MemoryGateway.started();
      const sessionId = await gateway.create();
      gateway.ledger.failNext(call, ...busy(2));

      await gateway.submit(sessionId, 'a');
      await gateway.clock.advance(10_000);

      expect(gateway.fatal).toEqual([]);
      expect(gateway.admission(sessionId, 'a').outcome).toBe('completed');
    },
  );

  test('is waited for before the turn begins, when its session is not in memory', async () => {
    const { gateway } = await aFullGateway();
    const sessionId = await aForgottenSession(gateway);
    gateway.ledger.failNext('load', ...busy(3));

    gateway.model.release('answer');
    await gateway.clock.advance(10_000);

    expect(gateway.fatal).toEqual([]);
    expect(gateway.admission(sessionId, 'a').outcome).toBe('completed');
  });

  test('is waited for while the turn is got ready, when its session is forgotten meanwhile', async () => {
    const gateway = await MemoryGateway.started({ maxLoadedSessions: 1 });
    const sessionId = await gateway.create();
    const forgotten = new Promise<void>((resolve) => {
      gateway.ledger.beforeNext('readPayload', async () => {
        await quiet();
        await gateway.create();
        gateway.ledger.failNext('load', ...busy(3));
        resolve();
      });
    });

    await gateway.submit(sessionId, 'a');
    await forgotten;
    await gateway.clock.advance(10_000);

    expect(gateway.fatal).toEqual([]);
    expect(gateway.admission(sessionId, 'a').outcome).toBe('completed');
  });

  test('for too long is a failure of the storage', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    gateway.ledger.failNext('readPayload', ...forLong);

    await gateway.submit(sessionId, 'a');
    await gateway.clock.advance(60_000);

    expect(gateway.fatal).toMatchObject([{ kind: 'storage', error: { kind: 'busy' } }]);
  });
});

describe('a read of a client that fails because the storage is busy', () => {
  test('is not waited for: the client may come again', async () => {
    const { gateway } = await aFullGateway();
    const sessionId = await aForgottenSession(gateway);
    gateway.ledger.failNext('load', ...busy(1));

    await expect(gateway.sessions.state(sessionId)).rejects.toMatchObject({ kind: 'busy' });
  });
});

describe('a stop while a turn waits for a busy storage', () => {
  test('ends a turn that is not claimed yet, and leaves its prompt where it is', async () => {
    const { gateway } = await aFullGateway();
    const sessionId = await aForgottenSession(gateway);
    gateway.ledger.failNext('load', ...forLong);
    gateway.model.release('answer');
    await gateway.clock.advance(100);

    await gateway.gateway.drain(0, never);

    expect(gateway.fatal).toEqual([]);
    expect(gateway.admission(sessionId, 'a').status).toBe('queued');
  });

  test('ends a turn that is being got ready, and leaves its prompt where it is', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    gateway.ledger.failNext('readPayload', ...forLong);
    await gateway.submit(sessionId, 'a');
    await gateway.clock.advance(100);

    await gateway.gateway.drain(0, never);

    expect(gateway.fatal).toEqual([]);
    expect(gateway.admission(sessionId, 'a').status).toBe('queued');
  });

  test.each(['shutdown', 'a client'])('settles a turn that is claimed as interrupted, by %s', async (by) => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    gateway.ledger.failNext('readTranscript', ...forLong);
    await gateway.submit(sessionId, 'a');
    await gateway.clock.advance(100);

    if (by === 'shutdown') await gateway.gateway.drain(0, never);
    else await gateway.interrupt(sessionId);
    await quiet();

    expect(gateway.fatal).toEqual([]);
    expect(gateway.admission(sessionId, 'a').outcome).toBe('interrupted');
  });

  test('ends a compression by hand as stopped', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    for (const inputId of ['a', 'b', 'c', 'd']) await gateway.turn(sessionId, inputId);
    const next = await MemoryGateway.started({ store: gateway.store });
    next.ledger.failNext('readTranscript', ...forLong);
    const request = { sessionId, principalId: 'local', requestId: 'r', focus: null, keepLast: 1 };
    const compression = next.gateway.byHand.compress(request);
    await next.clock.advance(100);

    await next.gateway.drain(0, never);

    expect(next.fatal).toEqual([]);
    expect(await compression).toMatchObject({ kind: 'failed', record: { failure: { reason: 'aborted' } } });
  });
});

describe('recovery while the storage is busy', () => {
  /** A store with three sessions of which each has a turn that was sent. */
  async function aLostStore() {
    const lost = await MemoryGateway.started();
    const sessions = [await lost.create(), await lost.create(), await lost.create()];
    lost.model.enqueue([{ kind: 'hang' }], [{ kind: 'hang' }], [{ kind: 'hang' }]);
    for (const sessionId of sessions) {
      await lost.submit(sessionId, 'a');
      await lost.submit(sessionId, 'b');
    }
    await lost.model.requested(3);
    return { lost, sessions };
  }

  test.each(['unfinished', 'load', 'append', 'learntWindows'] as const)('waits at each %s', async (call) => {
    const { lost } = await aLostStore();
    // With room for one session in memory each is loaded twice.
    const next = await MemoryGateway.owning({ store: lost.store, maxLoadedSessions: 1 });
    for (let n = 0; n < 6; n += 1) {
      next.ledger.failNext(call, ...busy(1));
      next.ledger.beforeNext(call, async () => undefined);
    }

    const report = next.gateway.start();
    await next.clock.advance(60_000);

    expect(next.fatal).toEqual([]);
    expect(await report).toMatchObject({ sessions: 3, lost: 3 });
    expect(next.gateway.isServing()).toBe(true);
  });

  test.each(['unfinished', 'load', 'append', 'learntWindows'] as const)(
    'is broken off at %s by a stop, and the next owner does the rest',
    async (call) => {
      const { lost, sessions } = await aLostStore();
      const next = await MemoryGateway.owning({ store: lost.store });
      next.ledger.failNext(call, ...forLong);
      const report = next.gateway.start();
      await next.clock.advance(1000);

      await next.gateway.drain(10_000, never);

      expect(await report).toBeNull();
      expect([next.fatal, next.gateway.isServing(), next.gateway.phase()]).toEqual([[], false, 'draining']);
      const last = await MemoryGateway.owning({ store: lost.store });
      await last.gateway.start();
      expect(sessions.map((sessionId) => last.admission(sessionId, 'a').status)).toEqual(sessions.map(() => 'unknown'));
      expect(next.model.requests).toEqual([]);
    },
  );

  test('is broken off between two sessions by a stop: what is recovered stays so', async () => {
    const { lost, sessions } = await aLostStore();
    let drained: Promise<void> | undefined;
    const next = await MemoryGateway.owning({
      store: lost.store,
      failpoints: {
        hit: (name) => void (name === 'recovery.session' && (drained ??= next.gateway.drain(10_000, never))),
      },
    });

    expect(await next.gateway.start()).toBeNull();
    await drained;

    const states = sessions.map((sessionId) => next.admission(sessionId, 'a').status);
    expect(states).toEqual(['unknown', 'started', 'started']);
    expect([next.fatal, next.gateway.isServing()]).toEqual([[], false]);
  });

  test('is not over for whoever stops it before the append that is under way has its end', async () => {
    const { lost } = await aLostStore();
    const next = await MemoryGateway.owning({ store: lost.store });
    let commit: () => void = () => undefined;
    next.ledger.beforeNext('append', () => new Promise<void>((resolve) => (commit = resolve)));
    void next.gateway.start();
    await quiet();
    let isDrained = false;
    const drained = next.gateway.drain(10_000, never).then(() => void (isDrained = true));
    await quiet();
    expect(isDrained).toBe(false);

    commit();
    await drained;

    expect(next.ledger.appends).toHaveLength(1);
  });
});

describe('the health of the storage', () => {
  /** Two turns that have an answer which the storage does not take. */
  async function twoThatWait() {
    const gateway = await MemoryGateway.started();
    const sessions = [await gateway.create(), await gateway.create()] as const;
    for (const sessionId of sessions) {
      gateway.model.enqueue([{ kind: 'gate', name: sessionId }, ...textAnswer('Fine.')]);
      await gateway.submit(sessionId, 'a');
      await gateway.model.reached(sessionId);
    }
    return { gateway, sessions };
  }

  const healthOf = async (gateway: MemoryGateway): Promise<string> => (await gateway.gateway.status()).storage;

  test('is bad as long as any session has work that is tried again, and is logged when it changes', async () => {
    const { gateway, sessions } = await twoThatWait();
    const [one, other] = sessions;
    gateway.ledger.failNext('append', ...busy(4));
    gateway.model.release(one);
    await quiet();
    gateway.model.release(other);
    await gateway.clock.advance(250); // both have tried twice, and try again at the same instant
    gateway.ledger.failNext('append', ...busy(1));
    const health: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      const ended = sessions.filter((sessionId) => gateway.admission(sessionId, 'a').outcome === 'completed').length;
      health.push(`${String(ended)} ended, ${await healthOf(gateway)}`);
      await gateway.clock.advance(100);
    }

    expect([...new Set(health)]).toEqual(['0 ended, retrying', '1 ended, retrying', '2 ended, ok']);
    const warnings = gateway.logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
    expect(warnings).toEqual(['the storage is full or busy: trying again', 'the storage works again']);
  });

  test('stays failed, and the process is told once, when an append that was tried again commits after the failure', async () => {
    const { gateway, sessions } = await twoThatWait();
    const [one, other] = sessions;
    let commit: () => void = () => undefined;
    gateway.ledger.failNext('append', ...busy(1));
    gateway.ledger.beforeNext('append', () => new Promise<void>((resolve) => (commit = resolve)));
    gateway.model.release(one);
    await gateway.clock.advance(100);
    gateway.ledger.failNext('append', new StorageError('io', 'The disk is gone.'));
    gateway.model.release(other);
    await quiet();

    commit();
    await quiet();
    gateway.ledger.failNext('load', new StorageError('io', 'The disk is gone.'));
    await gateway.submitPrompt({
      sessionId: 'another',
      principalId: 'local',
      inputId: 'a',
      payload: { text: 'a', parts: null },
    });

    expect(gateway.admission(one, 'a').outcome).toBe('completed');
    expect(await healthOf(gateway)).toBe('failed');
    expect(gateway.fatal).toHaveLength(1);
  });
});
