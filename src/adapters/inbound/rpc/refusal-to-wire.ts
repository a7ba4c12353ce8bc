import type { Refusal, RefusalReason } from '../../../core/domain/session/refusal.ts';
import type { Sent } from '../../../core/use-cases/sessions.ts';
import type { ErrorReason } from '../../../protocol/errors.ts';
import { approvalResolutionToWire } from './approval-to-wire.ts';
import { failed, result } from './answer.ts';
import type { Answer, ErrorDetails } from './answer.ts';
import { receiptToWire } from './receipt-to-wire.ts';

/** How long a client should wait before it repeats a call that met a full queue or a busy disk. */
const retryAfterMs = 1_000;

/**
 * The error that each refusal becomes. Some refusals belong to commands that no client can send: if one gets here, the
 * gateway has a fault.
 */
const wireReasons = {
  not_found: 'not_found',
  admission_conflict: 'admission_conflict',
  request_conflict: 'request_conflict',
  revision_conflict: 'revision_conflict',
  stale_generation: 'stale_generation',
  unknown_execution: 'unknown_execution',
  already_resolved: 'already_resolved',
  not_unknown: 'not_unknown',
  not_queued: 'not_queued',
  turn_over: 'turn_over',
  approval_closed: 'approval_closed',
  queue_full: 'queue_full',
  unsupported_parts: 'invalid_params',
  too_large: 'payload_too_large',
  draining: 'draining',
  session_busy: 'session_busy',
  not_claimable: 'internal',
  stop_requested: 'internal',
  tip_moved: 'internal',
  compression_open: 'internal',
} as const satisfies Readonly<Record<RefusalReason, ErrorReason>>;

/** A refusal that only the gateway's own turns can meet. */
export class UnexpectedRefusal extends Error {
  override readonly name = 'UnexpectedRefusal';

  constructor(reason: RefusalReason) {
    super(`A client's command was refused with ${reason}`);
  }
}

/** The answer to a call that sent one command. Throws `UnexpectedRefusal`. */
export function answerOf<T, R>(sent: Sent<T>, toResult: (reply: T) => R): Answer<R> {
  switch (sent.kind) {
    case 'done':
      return result(toResult(sent.reply));
    case 'refused':
      return refusalToWire(sent.refusal);
    case 'unavailable':
      return failed('storage_unavailable', { outcome_unknown: sent.outcomeUnknown, retry_after_ms: retryAfterMs });
  }
}

export function refusalToWire(refusal: Refusal): Answer<never> {
  const reason = wireReasons[refusal.reason];
  if (reason === 'internal') throw new UnexpectedRefusal(refusal.reason);
  return failed(reason, detailsOf(refusal));
}

function detailsOf(refusal: Refusal): ErrorDetails {
  switch (refusal.reason) {
    case 'not_found':
      return { what: refusal.what, message: `There is no such ${refusal.what}.` };
    case 'admission_conflict':
    case 'unknown_execution':
    case 'already_resolved':
    case 'not_unknown':
    case 'not_queued':
      return { receipt: receiptToWire(refusal.receipt) };
    case 'request_conflict':
      return { session_id: refusal.sessionId };
    case 'revision_conflict':
      return {
        revision: refusal.revision,
        ...(refusal.receipt === null ? {} : { receipt: receiptToWire(refusal.receipt) }),
      };
    case 'stale_generation':
    case 'turn_over':
      return { execution_generation: refusal.executionGeneration };
    case 'approval_closed':
      return refusal.approval === null ? {} : { resolution: approvalResolutionToWire(refusal.approval.resolution) };
    case 'queue_full':
      return { limit: refusal.limit, retry_after_ms: retryAfterMs };
    case 'unsupported_parts':
      return {
        fields: refusal.parts.map((index) => ({
          path: `parts.${String(index)}`,
          message: 'is of a kind that the model of this session does not take',
        })),
      };
    case 'session_busy':
      return refusal.receipt === null ? {} : { receipt: receiptToWire(refusal.receipt) };
    case 'draining':
      return { retry_after_ms: retryAfterMs };
    case 'too_large':
    case 'not_claimable':
    case 'stop_requested':
    case 'tip_moved':
    case 'compression_open':
      return {};
  }
}
