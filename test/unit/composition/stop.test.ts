import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { stopOnSignals } from '../../../src/composition/stop.ts';
import type { Stop } from '../../../src/composition/stop.ts';
import { StorageError } from '../../../src/core/ports/ledger.ts';

const watchdogMs = 40_000;
const failure = { kind: 'storage', error: new StorageError('io', 'The disk is gone.') } as const;

function aProcess(): { process: EventEmitter; stop: Stop; barks: number[] } {
  const process = new EventEmitter();
  const barks: number[] = [];
  const begunMs = Date.now();
  const watchdog = { ms: watchdogMs, bark: () => void barks.push(Date.now() - begunMs) };
  return { process, barks, stop: stopOnSignals(process as unknown as NodeJS.Process, watchdog) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the watchdog', () => {
  test('sleeps as long as nobody asks for a stop', async () => {
    const { barks } = aProcess();

    await vi.advanceTimersByTimeAsync(10 * watchdogMs);

    expect(barks).toEqual([]);
  });

  test('counts from the first signal, whatever the process is at, and barks once', async () => {
    const { process, barks } = aProcess();
    await vi.advanceTimersByTimeAsync(5_000);

    process.emit('SIGTERM', 'SIGTERM');
    await vi.advanceTimersByTimeAsync(1_000);
    process.emit('SIGINT', 'SIGINT');
    await vi.advanceTimersByTimeAsync(10 * watchdogMs);

    expect(barks).toEqual([5_000 + watchdogMs]);
  });

  test('counts from a fatal cause, too', async () => {
    const { stop, barks } = aProcess();

    stop.fatal(failure);
    await vi.advanceTimersByTimeAsync(watchdogMs);

    expect(barks).toEqual([watchdogMs]);
  });
});

describe('a stop', () => {
  test('begins with the first signal; the second one asks for hurry', async () => {
    const { process, stop } = aProcess();
    expect(stop.requested).toBe(false);

    process.emit('SIGTERM', 'SIGTERM');
    expect([stop.requested, stop.hurry.aborted]).toEqual([true, false]);
    process.emit('SIGINT', 'SIGINT');

    expect(stop.hurry.aborted).toBe(true);
    expect(await stop.wait).toEqual({ kind: 'signal', signal: 'SIGTERM' });
  });

  test('tells of a fatal cause that comes after a signal, and keeps the first', async () => {
    const { process, stop } = aProcess();
    process.emit('SIGTERM', 'SIGTERM');

    stop.fatal(failure);
    stop.fatal({ kind: 'superseded', epoch: 7 });
    await stop.failed;

    expect(await stop.wait).toEqual({ kind: 'signal', signal: 'SIGTERM' });
    expect([stop.fatalCause, stop.hurry.aborted]).toEqual([failure, true]);
  });

  test('is not begun by a terminal that closes', () => {
    const { process, stop } = aProcess();

    process.emit('SIGHUP', 'SIGHUP');

    expect(stop.requested).toBe(false);
  });
});
