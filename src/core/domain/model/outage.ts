import type { Failure, FailureKind } from './failure.ts';

/** Failures that are not their prompt's own. The ones with `false` need a person: waiting doesn't help. */
const outages: Partial<Readonly<Record<FailureKind, boolean>>> = {
  auth: false,
  quota_exhausted: false,
  configuration: false,
  not_an_api: false,
  rate_limited: true,
  unavailable: true,
  stalled: true,
  compression_failed: true,
};

/** Whether an outage passes by itself; null when the failure is none, but the prompt's own. */
export function passes({ reason }: Pick<Failure, 'reason'>): boolean | null {
  return outages[reason] ?? null;
}
