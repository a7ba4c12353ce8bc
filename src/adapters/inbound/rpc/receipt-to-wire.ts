import type { Admission, Evidence, Resolution } from '../../../core/domain/admission/admission.ts';
import type { Receipt } from '../../../core/domain/admission/receipt.ts';
import type { Failure } from '../../../core/domain/model/failure.ts';
import type { Blocker } from '../../../core/domain/session/state.ts';
import type { StorageHealth } from '../../../core/use-cases/gateway-status.ts';
import type { Usage } from '../../../core/domain/model/usage.ts';
import type { WireUsage } from '../../../protocol/message.ts';
import type { WireEvidence, WireFailure, WireReceipt } from '../../../protocol/receipt.ts';

/** Receipts as they are at this moment: what the storage does is no part of a session's state. */
export function makeReceiptToWire(deps: { readonly storage: () => StorageHealth }): (receipt: Receipt) => WireReceipt {
  return (receipt) => {
    const { status, delivery } = receipt.admission;
    const waits = status === 'queued' && delivery === 'queue';
    const blockedBy = waits ? blockersToWire(receipt.blockedBy, deps.storage()) : receipt.blockedBy;
    return receiptToWire({ ...receipt, blockedBy });
  };
}

/** Why the queue's head doesn't start now: the session's own reasons, and a storage that takes no claim at the moment. */
export function blockersToWire(blockers: readonly Blocker[], storage: StorageHealth): Blocker[] {
  return storage === 'retrying' ? [...blockers, 'storage'] : [...blockers];
}

export function receiptToWire({ admission, ahead, duplicate, blockedBy }: Receipt): WireReceipt {
  return {
    admission_id: admission.admissionId,
    session_id: admission.sessionId,
    input_id: admission.inputId,
    sequence: admission.seq,
    ahead,
    status: admission.status,
    outcome: admission.outcome,
    execution_generation: admission.executionGeneration,
    revision: admission.revision,
    duplicate,
    blocked_by: [...blockedBy],
    ...(admission.failure === null ? {} : { failure: failureToWire(admission.failure) }),
    ...(admission.evidence === null ? {} : { evidence: evidenceToWire(admission.evidence) }),
    ...(admission.resolution === null ? {} : { resolution: resolutionToWire(admission.resolution) }),
    ...(admission.retriedBy === null ? {} : { retried_by: admission.retriedBy }),
    ...steersToWire(admission),
    ...(admission.mergedInto === null ? {} : { merged_into: admission.mergedInto }),
    accepted_at: admission.acceptedAt,
    ...(admission.startedAt === null ? {} : { started_at: admission.startedAt }),
    ...(admission.settledAt === null ? {} : { settled_at: admission.settledAt }),
  };
}

/** What a steer is, beyond what every admission is. */
export function steersToWire({
  delivery,
  steers,
}: Admission): Pick<WireReceipt, 'delivery' | 'steers_generation' | 'if_over'> {
  if (steers === null) return {};
  return { delivery, steers_generation: steers.generation, if_over: steers.ifOver };
}

export function failureToWire(failure: Failure): WireFailure {
  return {
    reason: failure.reason,
    message: failure.message,
    retryable: failure.retryable,
    ...(failure.providerStatus === null ? {} : { provider_status: failure.providerStatus }),
    ...(failure.retryAfterMs === null ? {} : { retry_after_ms: failure.retryAfterMs }),
  };
}

export function evidenceToWire(evidence: Evidence): WireEvidence {
  return {
    boundary: evidence.boundary,
    owner_epoch: evidence.ownerEpoch,
    started_at: evidence.startedAt,
    lost_at: evidence.lostAt,
    step: evidence.step,
    open_tool_calls: [...evidence.openToolCalls],
  };
}

export function resolutionToWire({ action, by, at }: Resolution): {
  action: Resolution['action'];
  by: string;
  at: string;
} {
  return { action, by, at };
}

export function usageToWire(usage: Usage): WireUsage {
  return { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens, total_tokens: usage.totalTokens };
}
