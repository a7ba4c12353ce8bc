import { millisecondsBetween } from '../instant.ts';
import { openBreaker } from '../lineage/lineage.ts';
import type { CompressionLineage } from '../lineage/lineage.ts';
import { failureOf } from '../model/failure.ts';
import type { Failure } from '../model/failure.ts';
import { passes } from '../model/outage.ts';

/**
 * Why a request is not sent that only a compression could have made fit, while no summary is to be had. That is not its
 * prompt's own failure: it has the reason of the model that was to summarise, where that is an outage, and says from when
 * on the next try makes sense. Without a `cause` the breaker is open, and nobody was asked.
 */
export function withoutSummary(
  problem: string,
  cause: Failure | null,
  lineage: CompressionLineage,
  now: string,
): Failure {
  const { openUntil } = lineage.breaker;
  const breakerMs =
    openUntil !== null && openBreaker(lineage, now) === 'failed' ? millisecondsBetween(now, openUntil) : 0;
  const reason = cause === null || passes(cause) === null ? 'compression_failed' : cause.reason;
  const why = cause?.message ?? `A compression has just failed; none is tried before ${String(openUntil)}.`;
  const waitMs = Math.max(breakerMs, cause?.retryAfterMs ?? 0);
  return failureOf(reason, `${problem} ${why}`, {
    retryable: passes({ reason }) === true,
    providerStatus: cause?.providerStatus ?? null,
    retryAfterMs: waitMs > 0 ? waitMs : null,
  });
}
