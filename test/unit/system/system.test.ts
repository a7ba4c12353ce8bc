import { afterEach, describe, expect, test, vi } from 'vitest';
import { Sha256Digest } from '../../../src/adapters/outbound/system/sha256-digest.ts';
import { SystemClock } from '../../../src/adapters/outbound/system/system-clock.ts';
import { UuidIds } from '../../../src/adapters/outbound/system/uuid-ids.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('the wall clock', () => {
  test('is ISO 8601 in UTC with milliseconds', () => {
    expect(new SystemClock().now()).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});

describe('a sleep', () => {
  test('ends after its time by the monotonic clock and not before', async () => {
    const clock = new SystemClock();
    const startedMs = clock.monotonicMs();

    await clock.sleep(20);

    expect(clock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(20);
  });

  test('ends at once when it is aborted, and leaves no timer and no listener', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stop = new AbortController();
    const removed = vi.spyOn(stop.signal, 'removeEventListener');

    const sleeping = new SystemClock().sleep(60_000, stop.signal);
    stop.abort();
    await sleeping;

    expect(vi.getTimerCount()).toBe(0);
    expect(removed).toHaveBeenCalledOnce();
  });

  test('removes its listener from a long-lived signal when it ends by itself', async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');

    await new SystemClock().sleep(1, signal);

    // A timer may fire a little early, after which the rest is slept too.
    expect(added).toHaveBeenCalled();
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
  });

  test('does not begin when the signal is aborted already, or the time is none', async () => {
    const clock = new SystemClock();

    await clock.sleep(60_000, AbortSignal.abort());
    await clock.sleep(0);
    await clock.sleep(-1);
    await clock.sleep(Number.NaN);
  });

  test('may be longer than the longest timer of Node', async () => {
    vi.useFakeTimers();
    const thirtyDaysMs = 30 * 24 * 3_600_000;
    let awake = false;
    void new SystemClock().sleep(thirtyDaysMs).then(() => (awake = true));

    await vi.advanceTimersByTimeAsync(thirtyDaysMs - 1_000);
    expect(awake).toBe(false);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(awake).toBe(true);
  });

  test('does not keep the process alive', () => {
    vi.useFakeTimers();
    const unref = vi.fn();
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(
      () => ({ unref }) as unknown as NodeJS.Timeout, // all that is asked of it
    );

    void new SystemClock().sleep(1_000);

    expect(unref).toHaveBeenCalledOnce();
    vi.restoreAllMocks();
  });
});

describe('an id', () => {
  test('is new, and sorts after every earlier one, also when the clock steps back', () => {
    vi.useFakeTimers({ now: Date.parse('2030-01-01T00:00:00Z') });
    const ids = new UuidIds();

    const first = Array.from({ length: 500 }, () => ids.next());
    vi.setSystemTime(Date.parse('2029-12-31T00:00:00Z'));
    const all = [...first, ...Array.from({ length: 500 }, () => ids.next())];

    expect(new Set(all).size).toBe(1_000);
    expect([...all].sort()).toEqual(all);
  });
});

describe('a digest', () => {
  test("is the SHA-256 of the text's UTF-8 bytes", () => {
    const digest = new Sha256Digest();

    expect(digest.of('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(digest.of('é')).toBe(digest.of('\u00e9'));
    expect(digest.of('é')).not.toBe(digest.of('e\u0301'));
  });
});
