import type { Failure } from './failure.ts';

/** How often and how long a request that failed before anything of it was stored is tried again. */
export interface RetryPolicy {
  /** Tries in all, the first included. */
  readonly maxAttempts: number;
  readonly baseDelayMs: number;
  /** The longest single wait, also when the provider asks for a longer one. */
  readonly maxDelayMs: number;
  /** The longest time from the first try to the last. */
  readonly maxTotalMs: number;
}

export type RetryDecision =
  { readonly kind: 'retry'; readonly delayMs: number } | { readonly kind: 'give_up'; readonly failure: Failure };

/**
 * Whether to try again, and when. The provider's own wish (Retry-After) is followed exactly; without one the wait
 * doubles with each try, of which a random half is left out: `jitter` is a random number from 0 to 1. A wish beyond the limit ends the
 * turn with the time in its failure, so that a person or the queue's hold can decide.
 */
export function decideRetry(
  policy: RetryPolicy,
  tries: { readonly failure: Failure; readonly attempts: number; readonly elapsedMs: number; readonly jitter: number },
): RetryDecision {
  const { failure, attempts, elapsedMs, jitter } = tries;
  if (!failure.retryable || attempts >= policy.maxAttempts) return { kind: 'give_up', failure };
  const wish = failure.retryAfterMs;
  if (wish !== null && wish > policy.maxDelayMs) return { kind: 'give_up', failure: withWish(failure, wish) };
  const ceiling = Math.min(policy.baseDelayMs * 2 ** (attempts - 1), policy.maxDelayMs);
  const delayMs = wish ?? Math.round(ceiling * (0.5 + 0.5 * jitter));
  return elapsedMs + delayMs > policy.maxTotalMs ? { kind: 'give_up', failure } : { kind: 'retry', delayMs };
}

function withWish(failure: Failure, wishMs: number): Failure {
  const message = `${failure.message} The provider asks to wait ${String(Math.ceil(wishMs / 1000))} s.`;
  return { ...failure, message };
}
