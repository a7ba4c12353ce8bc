import { MessageChannel } from 'node:worker_threads';
import type { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openWorkerStorage } from '../../../src/adapters/outbound/sqlite/worker-storage.ts';
import { serveWorker, WorkerChannel } from '../../../src/adapters/outbound/sqlite/worker-channel.ts';
import type { AppendRequest } from '../../../src/core/ports/ledger.ts';
import { StorageError } from '../../../src/core/ports/ledger.ts';
import { creation, firstPrompt, ownerOf } from './prompts.ts';
import { temporaryHome } from './temporary-home.ts';

/** What JSON says to a value whose text would be longer than a string may be, without the half gigabyte. */
const tooLong = {
  toJSON: (): never => {
    throw new RangeError('Invalid string length');
  },
};

const api = {
  echo: (value: unknown): unknown => value,
  long: (): unknown => tooLong,
  longLater: async (): Promise<unknown> => tooLong,
  odd: (): unknown => 1n,
};

function aChannel(whenTooLarge: 'too_large' | 'io'): WorkerChannel<typeof api> {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  serveWorker(port2, api, whenTooLarge);
  return new WorkerChannel<typeof api>(port1 as unknown as Worker); // of a worker it uses what a port has too
}

describe('what can’t be handed over between threads', () => {
  test.each(['long', 'longLater'] as const)('as an answer fails alone (%s)', async (method) => {
    const channel = aChannel('too_large');

    const before = channel.call('echo', 'before');
    const long = channel.call(method);
    const after = channel.call('echo', 'after');

    await expect(long).rejects.toMatchObject({ kind: 'too_large', retryable: false, outcomeUnknown: false });
    expect([await before, await after, await channel.call('echo', 'later')]).toEqual(['before', 'after', 'later']);
  });

  test('as an answer to a call that may have changed something leaves its outcome unknown', async () => {
    await expect(aChannel('io').call('long')).rejects.toMatchObject({ kind: 'io', outcomeUnknown: true });
  });

  test('as a call is not begun, and fails alone', async () => {
    const channel = aChannel('io');

    await expect(channel.call('echo', tooLong)).rejects.toMatchObject({ kind: 'too_large', outcomeUnknown: false });
    expect(await channel.call('echo', 'later')).toBe('later');
  });

  test('for any other reason is a bug of that answer', async () => {
    const channel = aChannel('too_large');

    await expect(channel.call('odd')).rejects.not.toBeInstanceOf(StorageError);
    expect(await channel.call('echo', 'later')).toBe('later');
  });
});

describe('an append that can’t be handed to the writer', () => {
  test('is known not to have happened, and the store goes on', async () => {
    const failures: StorageError[] = [];
    const storage = await openWorkerStorage({
      home: temporaryHome(),
      newStoreId: 'store-1',
      synchronous: 'normal',
      onFailure: (error) => failures.push(error),
    });
    onTestFinished(() => storage.close());
    const { ledger, queries } = storage;
    const epoch = await ownerOf(ledger);
    await ledger.append(creation('session-1', epoch));
    const prompt = firstPrompt('session-1', epoch, 1, 'text');
    const large: AppendRequest = { ...prompt, epoch: tooLong as unknown as number };

    await expect(ledger.append(large)).rejects.toMatchObject({ kind: 'too_large', outcomeUnknown: false });
    const unchanged = await queries.findSession('session-1');

    expect(unchanged?.lastSeq).toBe(1);
    expect(await ledger.append(prompt)).toEqual({ kind: 'committed' });
    expect(failures).toEqual([]);
  });
});

describe('the reads of the ledger', () => {
  test('don’t wait behind pages that somebody else has asked for', async () => {
    const storage = await openWorkerStorage({ home: temporaryHome(), newStoreId: 'store-1', synchronous: 'normal' });
    onTestFinished(() => storage.close());
    const { ledger, queries } = storage;
    const epoch = await ownerOf(ledger);
    await ledger.append(creation('session-1', epoch));
    await ledger.append(firstPrompt('session-1', epoch, 1, 'x'.repeat(3_000_000)));
    let answered = 0;

    const pages = Array.from({ length: 100 }, async () => {
      await queries.listAdmissions({ sessionId: 'session-1', include: 'open', limit: 100, after: null });
      answered += 1;
    });
    await ledger.load('session-1');
    const answeredBefore = answered;
    await Promise.all(pages);

    expect(answeredBefore).toBeLessThan(100);
  });
});
