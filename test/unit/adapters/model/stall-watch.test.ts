import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StallWatch } from '../../../../src/adapters/outbound/model/stall-watch.ts';
import { Stalled, makeStallWatch, stallLimits } from '../../../../src/adapters/outbound/model/stall-watch.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const limits = stallLimits({
  firstByteTimeoutMs: 100,
  firstDataTimeoutMs: 1000,
  idleTimeoutMs: 60,
  tailTimeoutMs: 20,
  totalTimeoutMs: 5000,
});

/** Waits for a piece that comes after so long; says whether it came in time. */
async function piece(watch: StallWatch, afterMs: number): Promise<'came' | 'stalled'> {
  const work = new Promise<void>((resolve) => setTimeout(resolve, afterMs));
  const waited = watch.wait(work).then(
    () => 'came' as const,
    (error: unknown) => {
      if (error instanceof Stalled) return 'stalled' as const;
      throw error;
    },
  );
  await vi.advanceTimersByTimeAsync(afterMs);
  return waited;
}

describe('the deadlines of a request', () => {
  it('let a long prompt be silent for its own time before the first byte', async () => {
    expect(await piece(makeStallWatch(limits), 99)).toBe('came');
    expect(await piece(makeStallWatch(limits), 101)).toBe('stalled');
  });

  it('take any byte for a sign of life until the first data, within the limit for the whole wait', async () => {
    const watch = makeStallWatch(limits);
    const results: string[] = [];

    for (let beat = 0; beat < 12; beat += 1) {
      results.push(await piece(watch, 90));
      watch.sawBytes();
    }

    expect(results.slice(0, 11)).toEqual(Array(11).fill('came'));
    expect(results[11]).toBe('stalled');
  });

  it('take only data for a sign of life after the first data', async () => {
    const watch = makeStallWatch(limits);
    watch.sawData();

    expect(await piece(watch, 50)).toBe('came');
    watch.sawBytes();
    expect(await piece(watch, 50)).toBe('stalled');
  });

  it('begin anew with each data frame', async () => {
    const watch = makeStallWatch(limits);

    for (let frame = 0; frame < 50; frame += 1) {
      watch.sawData();
      expect(await piece(watch, 50)).toBe('came');
    }
  });

  it('do not count the time in which nobody waits', async () => {
    const watch = makeStallWatch(limits);
    watch.sawData();

    await vi.advanceTimersByTimeAsync(100_000);

    expect(await piece(watch, 50)).toBe('came');
  });

  it('are short after the finish reason', async () => {
    const watch = makeStallWatch(limits);
    watch.sawData();
    watch.sawFinishReason();

    expect(await piece(watch, 30)).toBe('stalled');
  });

  it('end the liveliest stream at the total', async () => {
    const watch = makeStallWatch(limits);
    let frames = 0;

    do {
      watch.sawData();
      frames += 1;
    } while ((await piece(watch, 50)) === 'came');

    expect(frames).toBe(101);
  });
});
