import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../../../src/core/domain/model/failure.ts';
import { decideRetry } from '../../../../../src/core/domain/model/retry.ts';
import type { RetryPolicy } from '../../../../../src/core/domain/model/retry.ts';

const policy: RetryPolicy = { maxAttempts: 4, baseDelayMs: 1000, maxDelayMs: 30_000, maxTotalMs: 60_000 };
const busy = failureOf('unavailable', 'The model is busy.', { retryable: true });
const first = { failure: busy, attempts: 1, elapsedMs: 0, jitter: 1 };

describe('a request that failed', () => {
  test('is tried again when it may succeed unchanged', () => {
    expect(decideRetry(policy, first)).toEqual({ kind: 'retry', delayMs: 1000 });
  });

  test('is not when its failure is its own', () => {
    const failure = failureOf('bad_request', 'No such model.');

    expect(decideRetry(policy, { ...first, failure })).toEqual({ kind: 'give_up', failure });
  });

  test('is not after the last attempt', () => {
    expect(decideRetry(policy, { ...first, attempts: 4 })).toEqual({ kind: 'give_up', failure: busy });
  });

  test('is not when the wait would end after the whole time', () => {
    expect(decideRetry(policy, { ...first, elapsedMs: 59_000 }).kind).toBe('retry');
    expect(decideRetry(policy, { ...first, elapsedMs: 59_001 }).kind).toBe('give_up');
  });
});

describe('the wait', () => {
  test('doubles with each try up to its limit', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((attempts) =>
      decideRetry({ ...policy, maxAttempts: 10 }, { ...first, attempts }),
    );

    expect(delays).toEqual(
      [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map((delayMs) => ({ kind: 'retry', delayMs })),
    );
  });

  test('is spread, so that many do not come back at once, and is at least half of its length', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 3 }), (jitter, attempts) => {
        const decision = decideRetry(policy, { ...first, attempts, jitter });
        const delayMs = decision.kind === 'retry' ? decision.delayMs : NaN;
        expect(delayMs).toBeGreaterThanOrEqual(500 * 2 ** (attempts - 1));
        expect(delayMs).toBeLessThanOrEqual(1000 * 2 ** (attempts - 1));
      }),
    );
  });

  test('is exactly what the provider asks for', () => {
    const failure = { ...busy, retryAfterMs: 7000 };

    expect(decideRetry(policy, { ...first, failure, jitter: 0 })).toEqual({ kind: 'retry', delayMs: 7000 });
    expect(decideRetry(policy, { ...first, failure: { ...busy, retryAfterMs: 0 } })).toEqual({
      kind: 'retry',
      delayMs: 0,
    });
  });

  test('that the provider asks for and that is too long ends the turn, and its failure says how long', () => {
    const failure = { ...busy, retryAfterMs: 90_500 };

    expect(decideRetry(policy, { ...first, failure })).toEqual({
      kind: 'give_up',
      failure: { ...failure, message: 'The model is busy. The provider asks to wait 91 s.' },
    });
  });
});
