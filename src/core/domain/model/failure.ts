/**
 * Why a model request, or the turn that made it, did not end well. The names are stable: clients branch on them.
 *
 * The first group comes from a provider, the second from the gateway itself.
 */
export type FailureKind =
  | 'context_overflow'
  | 'output_limit'
  | 'payload_too_large'
  | 'rate_limited'
  | 'quota_exhausted'
  | 'unavailable'
  | 'auth'
  | 'bad_request'
  | 'content_filtered'
  | 'stalled'
  | 'cut_off'
  | 'empty_reply'
  | 'not_an_api'
  | 'aborted'
  | 'context_exhausted'
  | 'window_too_small'
  | 'compression_failed'
  | 'crash_loop'
  | 'payload_corrupt'
  | 'max_steps'
  | 'turn_over'
  | 'storage_unavailable'
  | 'configuration'
  | 'internal';

/** A failure as it is stored with an admission or a compression and shown to clients. It never holds a secret. */
export interface Failure {
  readonly reason: FailureKind;
  /** A sentence for a person who operates the gateway. */
  readonly message: string;
  /** Whether the same request may succeed later, unchanged. */
  readonly retryable: boolean;
  /** The provider's HTTP status, where there was one. */
  readonly providerStatus: number | null;
  /** How long to wait before the next try, in milliseconds: the provider's wish, or until a compression is tried again. */
  readonly retryAfterMs: number | null;
}

export function failureOf(
  reason: FailureKind,
  message: string,
  more: Partial<Omit<Failure, 'reason' | 'message'>> = {},
): Failure {
  return {
    reason,
    message,
    retryable: more.retryable ?? false,
    providerStatus: more.providerStatus ?? null,
    retryAfterMs: more.retryAfterMs ?? null,
  };
}
