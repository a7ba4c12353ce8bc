import type {
  Admission,
  AdmissionOutcome,
  AdmissionStatus,
  Boundary,
  Delivery,
  SteerTarget,
} from '../../../core/domain/admission/admission.ts';
import { fromJson, toJson } from './json-column.ts';

/** A row of `session_admissions` without its payload. */
export interface AdmissionRow {
  readonly seq: number;
  readonly admission_id: string;
  readonly request_id: string;
  readonly target_session_id: string;
  readonly principal_id: string;
  readonly position: number;
  readonly revision: number;
  readonly status: string;
  readonly outcome: string | null;
  readonly delivery: string;
  readonly owner_epoch: number | null;
  readonly execution_generation: number | null;
  readonly boundary: string;
  readonly step: number;
  readonly requeue_count: number;
  readonly prompt_message_id: number | null;
  readonly stop_requested_by: string | null;
  readonly stop_requested_at: string | null;
  readonly accepted_at: string;
  readonly started_at: string | null;
  readonly settled_at: string | null;
  readonly request_digest: string;
  readonly payload_digest: string;
  readonly retried_by: string | null;
  readonly steers_generation: number | null;
  readonly if_over: string | null;
  readonly merged_into: string | null;
  readonly resolution: string | null;
  readonly evidence: string | null;
  readonly failure: string | null;
}

export const admissionColumns = `seq, admission_id, request_id, target_session_id, principal_id, position, revision,
  status, outcome, delivery, owner_epoch, execution_generation, boundary, step, requeue_count, prompt_message_id,
  stop_requested_by, stop_requested_at, accepted_at, started_at, settled_at, request_digest, payload_digest, retried_by,
  resolution, evidence, failure, steers_generation, if_over, merged_into`;

export function admissionFromRow(row: AdmissionRow): Admission {
  return {
    seq: row.seq,
    admissionId: row.admission_id,
    inputId: row.request_id,
    sessionId: row.target_session_id,
    principalId: row.principal_id,
    position: row.position,
    revision: row.revision,
    status: row.status as AdmissionStatus, // written by `admissionToRow`, like the other unions
    outcome: row.outcome as AdmissionOutcome | null,
    delivery: row.delivery as Delivery,
    steers: steerTargetFrom(row),
    mergedInto: row.merged_into,
    requestDigest: row.request_digest,
    payloadDigest: row.payload_digest,
    ownerEpoch: row.owner_epoch,
    executionGeneration: row.execution_generation,
    boundary: row.boundary as Boundary,
    requeueCount: row.requeue_count,
    step: row.step,
    promptMessageId: row.prompt_message_id,
    stopRequested: stopRequestFrom(row),
    evidence: fromJson(row.evidence),
    failure: fromJson(row.failure),
    resolution: fromJson(row.resolution),
    retriedBy: row.retried_by,
    acceptedAt: row.accepted_at,
    startedAt: row.started_at,
    settledAt: row.settled_at,
  };
}

function steerTargetFrom({ steers_generation: generation, if_over: ifOver }: AdmissionRow): SteerTarget | null {
  if (generation === null || ifOver === null) return null;
  return { generation, ifOver: ifOver as SteerTarget['ifOver'] };
}

function stopRequestFrom(row: AdmissionRow): Admission['stopRequested'] {
  const { stop_requested_by: by, stop_requested_at: at } = row;
  return by === null || at === null ? null : { by, at };
}

export function admissionToRow(admission: Admission): AdmissionRow {
  return {
    seq: admission.seq,
    admission_id: admission.admissionId,
    request_id: admission.inputId,
    target_session_id: admission.sessionId,
    principal_id: admission.principalId,
    position: admission.position,
    revision: admission.revision,
    status: admission.status,
    outcome: admission.outcome,
    delivery: admission.delivery,
    owner_epoch: admission.ownerEpoch,
    execution_generation: admission.executionGeneration,
    boundary: admission.boundary,
    step: admission.step,
    requeue_count: admission.requeueCount,
    prompt_message_id: admission.promptMessageId,
    stop_requested_by: admission.stopRequested?.by ?? null,
    stop_requested_at: admission.stopRequested?.at ?? null,
    accepted_at: admission.acceptedAt,
    started_at: admission.startedAt,
    settled_at: admission.settledAt,
    request_digest: admission.requestDigest,
    payload_digest: admission.payloadDigest,
    retried_by: admission.retriedBy,
    steers_generation: admission.steers?.generation ?? null,
    if_over: admission.steers?.ifOver ?? null,
    merged_into: admission.mergedInto,
    resolution: toJson(admission.resolution),
    evidence: toJson(admission.evidence),
    failure: toJson(admission.failure),
  };
}
