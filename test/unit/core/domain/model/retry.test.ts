import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../../../src/core/domain/model/failure.ts';
import { decideRetry } from '../../../../../src/core/domain/model/retry.ts';
import type { RetryPolicy } from '../../../../../src/core/domain/model/retry.ts';

const policy: RetryPolicy = { maxAttempts: 4, baseDelayMs: 1000, maxDelayMs: 10_000, maxTotalMs: 60_000 };
const passing = failureOf('unavailable', 'The provider is down.', { retryable: true });
const tries = { failure: passing, attempts: 1, elapsedMs: 0, jitter: 1 };

describe('a request that failed in passing', () => {
  test('is tried again after a wait that doubles with each try', () => {
    const delays = [1, 2, 3].map((attempts) => decideRetry(policy, { ...tries, attempts }));
    expect(delays).toEqual([
      { kind: 'retry', delayMs: 1000 },
      { kind: 'retry', delayMs: 2000 },
      { kind: 'retry', delayMs: 4000 },
    ]);
  });

  test('never waits less than half of that, nor longer than the limit', () => {
    expect(decideRetry(policy, { ...tries, jitter: 0 })).toEqual({ kind: 'retry', delayMs: 500 });
    const many = { ...policy, maxAttempts: 99, maxTotalMs: 1e9 };
    expect(decideRetry(many, { ...tries, attempts: 50 })).toEqual({ kind: 'retry', delayMs: 10_000 });
  });

  test('waits exactly as long as the provider asks (D22)', () => {
    const failure = { ...passing, retryAfterMs: 7777 };
    expect(decideRetry(policy, { ...tries, failure, jitter: 0.3 })).toEqual({ kind: 'retry', delayMs: 7777 });
    expect(decideRetry(policy, { ...tries, failure: { ...passing, retryAfterMs: 0 } })).toEqual({
      kind: 'retry',
      delayMs: 0,
    });
  });

  test('is given up, with the time in its failure, when the provider asks for more than the limit (D23)', () => {
    const failure = { ...passing, retryAfterMs: 86_400_000 };
    expect(decideRetry(policy, { ...tries, failure })).toEqual({
      kind: 'give_up',
      failure: { ...failure, message: 'The provider is down. The provider asks to wait 86400 s.' },
    });
  });

  test('is given up after the last try, and when the time is over', () => {
    expect(decideRetry(policy, { ...tries, attempts: 4 }).kind).toBe('give_up');
    expect(decideRetry(policy, { ...tries, elapsedMs: 59_500 }).kind).toBe('give_up');
  });
});

test('a failure that will not pass is not tried again', () => {
  const failure = failureOf('auth', 'The key is wrong.');
  expect(decideRetry(policy, { ...tries, failure })).toEqual({ kind: 'give_up', failure });
});
