import { describe, expect, test } from 'vitest';
import { StorageError } from '../../../../src/core/ports/ledger.ts';
import { aDraft } from '../../../support/builders.ts';
import { done, MemoryGateway, quiet } from '../../../support/memory-gateway.ts';

/** A store that its owner has left with these sessions: one waits, one was starting, one was sent, one is done. */
async function aLostStore() {
  const lost = await MemoryGateway.owning();
  const [waiting, starting, sent, finished] = [
    await lost.create(),
    await lost.create(),
    await lost.create(),
    await lost.create(),
  ];
  for (const sessionId of [waiting, starting, sent]) {
    await lost.submit(sessionId, 'a');
    await lost.submit(sessionId, 'b');
  }
  const { admissionId } = lost.admission(starting, 'a');
  done(await lost.sessions.send(starting, { kind: 'claim', admissionId, prompt: null }));
  const { admissionId: sentId } = lost.admission(sent, 'a');
  const prompt = aDraft({ admissionId: sentId, text: 'prompt a' });
  done(await lost.sessions.send(sent, { kind: 'claim', admissionId: sentId, prompt }));
  return { lost, waiting, starting, sent, finished };
}

describe('a fresh owner', () => {
  test('recovers every unfinished session before anything runs, and says what it found', async () => {
    const { lost } = await aLostStore();
    const successor = await MemoryGateway.owning({ store: lost.store });

    const report = await successor.gateway.start();

    expect(report).toEqual({ sessions: 3, requeued: 1, lost: 1, ended: 0 });
  });

  test('drains the queues alone: nobody needs to be connected', async () => {
    const { lost, waiting, starting } = await aLostStore();
    const successor = await MemoryGateway.started({ store: lost.store });

    await successor.ended(waiting, 'b');
    await successor.ended(starting, 'b');

    for (const sessionId of [waiting, starting]) {
      expect(await successor.texts(sessionId)).toEqual([
        'user: prompt a',
        'assistant: Fine.',
        'user: prompt b',
        'assistant: Fine.',
      ]);
    }
  });

  test('holds what follows an unknown turn, in its own session and nowhere else', async () => {
    const { lost, sent, waiting } = await aLostStore();
    const successor = await MemoryGateway.started({ store: lost.store });
    await successor.ended(waiting, 'b');
    await quiet();

    expect(successor.admission(sent, 'a').status).toBe('unknown');
    expect(successor.admission(sent, 'b').status).toBe('queued');
    const { unknown } = await successor.gateway.status();
    expect(unknown.map(({ sessionId }) => sessionId)).toEqual([sent]);
  });

  test('runs nothing before it was started, whatever is submitted', async () => {
    const { lost, waiting } = await aLostStore();
    const successor = await MemoryGateway.owning({ store: lost.store });

    await successor.submit(waiting, 'c');
    await quiet();

    expect(successor.model.requests).toEqual([]);
    expect(successor.gateway.phase()).toBe('starting');
  });

  test('that was lost in the middle of its recovery leaves no trace of that: the next one does the rest', async () => {
    const { lost, starting, sent } = await aLostStore();
    let sessions = 0;
    const second = await MemoryGateway.owning({
      store: lost.store,
      failpoints: {
        hit: (name) =>
          name === 'recovery.session' && (sessions += 1) === 2 ? new Promise(() => undefined) : undefined,
      },
    });
    void second.gateway.start();
    await quiet();

    const third = await MemoryGateway.owning({ store: lost.store });
    const report = await third.gateway.start();

    expect(report).toMatchObject({ sessions: 3 });
    expect(third.admission(starting, 'a').requeueCount).toBe(1);
    expect(third.admission(sent, 'a')).toMatchObject({ status: 'unknown', evidence: { ownerEpoch: 1 } });
    expect(third.log(sent).filter(({ type }) => type === 'turn.lost')).toHaveLength(1);
  });

  test('ends a turn whose start was lost three times, and its follower runs', async () => {
    const { lost, starting } = await aLostStore();
    const failpoints = {
      hit: (name: string) => (name === 'claim.after_commit' ? new Promise<void>(() => undefined) : undefined),
    };
    // The small window makes the preflight due, so that the claim comes without its prompt.
    const dies = { store: lost.store, failpoints, window: { contextTokens: 4, outputTokens: 1 } };

    await MemoryGateway.started(dies);
    await quiet();
    await MemoryGateway.started(dies);
    await quiet();
    const last = await MemoryGateway.started({ store: lost.store });
    await last.ended(starting, 'b');

    expect(last.admission(starting, 'a')).toMatchObject({ outcome: 'failed', failure: { reason: 'crash_loop' } });
    expect(last.admission(starting, 'b').outcome).toBe('completed');
  });
});

describe('when the storage fails during recovery', () => {
  test.each(['load', 'append'] as const)('at a %s, nothing is run and the process is told to stop', async (call) => {
    const { lost } = await aLostStore();
    const successor = await MemoryGateway.owning({ store: lost.store });
    const error = new StorageError('io', 'The disk is gone.');
    successor.ledger.failNext(call, error);

    const report = await successor.gateway.start();
    await quiet();

    expect(report).toBeNull();
    expect(successor.fatal).toEqual([{ kind: 'storage', error }]);
    expect(successor.model.requests).toEqual([]);
  });

  test('at the list of what is unfinished, nothing is run and the process is told to stop', async () => {
    const { lost } = await aLostStore();
    const successor = await MemoryGateway.owning({ store: lost.store });
    const error = new StorageError('io', 'The disk is gone.');
    successor.ledger.failNext('unfinished', error);

    expect(await successor.gateway.start()).toBeNull();
    expect(successor.fatal).toEqual([{ kind: 'storage', error }]);
  });
});

describe('a fatal cause while turns run', () => {
  test('aborts their requests, settles nothing and is told once', async () => {
    const gateway = await MemoryGateway.started();
    const [one, other] = [await gateway.create(), await gateway.create()];
    gateway.model.enqueue([{ kind: 'hang' }], [{ kind: 'hang' }]);
    await gateway.submit(one, 'a');
    await gateway.submit(other, 'a');
    await gateway.model.requested(2);
    gateway.ledger.failNext('append', new StorageError('io', 'The disk is gone.'));

    await gateway.trySubmit(one, 'b', { text: 'b', parts: null });
    await quiet();

    expect(gateway.fatal).toHaveLength(1);
    for (const session of [one, other]) {
      expect(gateway.admission(session, 'a')).toMatchObject({ status: 'started', stopRequested: null });
    }
    expect((await gateway.gateway.status()).storage).toBe('failed');
  });

  test('keeps what waits from being started', async () => {
    const gateway = await MemoryGateway.started({ maxConcurrentTurns: 1 });
    const [one, other] = [await gateway.create(), await gateway.create()];
    gateway.model.enqueue([{ kind: 'hang' }]);
    await gateway.submit(one, 'a');
    await gateway.submit(other, 'a');
    await gateway.model.requested(1);
    gateway.ledger.failNext('append', new StorageError('io', 'The disk is gone.'));

    await gateway.trySubmit(one, 'b', { text: 'b', parts: null });
    await quiet();

    expect(gateway.model.requests).toHaveLength(1);
  });
});

test('while the storage is full a turn waits with its settlement, and its follower runs when there is room again', async () => {
  const gateway = await MemoryGateway.started();
  const sessionId = await gateway.create();
  gateway.model.enqueue([
    { kind: 'gate', name: 'answer' },
    { kind: 'text', text: 'Fine.' },
    { kind: 'finished', finishReason: 'stop', usage: null, parts: null },
  ]);
  await gateway.submit(sessionId, 'a');
  await gateway.submit(sessionId, 'b');
  await gateway.model.reached('answer');
  gateway.ledger.failNext('append', new StorageError('full', 'No room.'), new StorageError('full', 'No room.'));

  gateway.model.release('answer');
  await quiet();
  expect((await gateway.gateway.status()).storage).toBe('retrying');
  await gateway.clock.advance(5000);

  expect(gateway.admission(sessionId, 'a').outcome).toBe('completed');
  expect(gateway.admission(sessionId, 'b').outcome).toBe('completed');
  expect((await gateway.gateway.status()).storage).toBe('ok');
});
