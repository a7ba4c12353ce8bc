import type { Failure, FailureKind } from './failure.ts';

/**
 * Whether another model may be asked instead. Not where the request itself is at fault: what one model refuses, is too
 * long or breaks a rule, the next one would be asked for no better, and the operator would never see it.
 */
export function fallsBack(failure: Failure): boolean {
  return outsideTheRequest.includes(failure.reason);
}

const outsideTheRequest: readonly FailureKind[] = [
  'rate_limited',
  'quota_exhausted',
  'unavailable',
  'auth',
  'stalled',
  'cut_off',
  'empty_reply',
  'not_an_api',
  'configuration',
];
