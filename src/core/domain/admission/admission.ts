import { invariant } from '../invariant.ts';
import type { Failure } from '../model/failure.ts';
import type { ContentPart } from '../transcript/message.ts';

export type AdmissionStatus = 'queued' | 'started' | 'unknown' | 'terminal';
export type AdmissionOutcome = 'completed' | 'failed' | 'interrupted' | 'cancelled';
export type Delivery = 'queue' | 'steer';

/** What a steer is meant for, and what becomes of it when that turn is over before its next step. */
export interface SteerTarget {
  readonly generation: number;
  readonly ifOver: 'cancel' | 'queue';
}

/** The furthest point that a started turn may have passed. It is durable before it is crossed. */
export type Boundary = 'none' | 'model' | 'tool';

/** What a client asks the model. `parts` only where there is more than text. */
export interface PromptPayload {
  readonly text: string;
  readonly parts: readonly ContentPart[] | null;
}

/** What is known of a turn whose owner was lost. */
export interface Evidence {
  readonly boundary: Boundary;
  readonly ownerEpoch: number;
  readonly startedAt: string;
  readonly lostAt: string;
  readonly step: number;
  readonly openToolCalls: readonly string[];
}

export type ResolveAction = 'discard' | 'retry';

export interface Resolution {
  readonly action: ResolveAction;
  /** The principal, or `policy` when `recovery.on_unknown` decided. */
  readonly by: string;
  readonly at: string;
}

/**
 * One accepted prompt, from its receipt to its end.
 *
 * A1: the identity (`admissionId`, `inputId`, `seq`, `requestDigest`) never changes.
 * A2: only the functions below change a status, and only along the arrows of its life.
 * A3: a terminal admission never changes again, except that a resolution is written in the same step that ends it.
 */
export interface Admission {
  readonly seq: number;
  readonly admissionId: string;
  readonly inputId: string;
  readonly sessionId: string;
  readonly principalId: string;
  /** The sort key of the queue: `seq` × 2²⁰ unless a client moved it or it is a retry. */
  readonly position: number;
  readonly revision: number;
  readonly status: AdmissionStatus;
  readonly outcome: AdmissionOutcome | null;
  /** `steer` until its turn is over: then it waits like every other prompt, or is cancelled. */
  readonly delivery: Delivery;
  /** Null for a prompt that was never a steer. */
  readonly steers: SteerTarget | null;
  /** The admission into whose turn a steer's text went. */
  readonly mergedInto: string | null;
  readonly requestDigest: string;
  readonly payloadDigest: string;
  readonly ownerEpoch: number | null;
  readonly executionGeneration: number | null;
  readonly boundary: Boundary;
  /** How many of its starts were lost before anything was sent. */
  readonly requeueCount: number;
  readonly step: number;
  readonly promptMessageId: number | null;
  readonly stopRequested: { readonly by: string; readonly at: string } | null;
  readonly evidence: Evidence | null;
  readonly failure: Failure | null;
  readonly resolution: Resolution | null;
  readonly retriedBy: string | null;
  readonly acceptedAt: string;
  readonly startedAt: string | null;
  readonly settledAt: string | null;
}

/** The distance between two neighbours in the queue, so that a move finds room between them. */
export const positionGap = 2 ** 20;

export function startAdmission(a: Admission, start: { epoch: number; generation: number; at: string }): Admission {
  invariant(a.status === 'queued', 'only a queued admission starts');
  return {
    ...a,
    status: 'started',
    ownerEpoch: start.epoch,
    executionGeneration: start.generation,
    boundary: 'none',
    step: 0,
    startedAt: start.at,
    stopRequested: null,
  };
}

export function crossBoundary(a: Admission, boundary: Boundary): Admission {
  invariant(a.status === 'started', 'only a started admission crosses a boundary');
  return { ...a, boundary: furthest(a.boundary, boundary) };
}

export function requestStop(a: Admission, stop: { by: string; at: string }): Admission {
  invariant(a.status === 'started', 'only a started admission is asked to stop');
  return { ...a, stopRequested: stop };
}

/** Its text is in the turn, as this message. */
export function mergeAdmission(a: Admission, merge: { into: string; messageId: number; at: string }): Admission {
  invariant(a.status === 'queued' && a.delivery === 'steer', 'only a steer that waits is merged');
  const { into, messageId, at } = merge;
  return {
    ...a,
    status: 'terminal',
    outcome: 'completed',
    mergedInto: into,
    promptMessageId: messageId,
    settledAt: at,
  };
}

/** Back to its own place: the start was lost before anything was sent, or the turn that it was to steer is over. */
export function requeueAdmission(a: Admission): Admission {
  if (a.delivery === 'steer') {
    invariant(a.status === 'queued', 'a steer never starts');
    return { ...a, delivery: 'queue' };
  }
  invariant(a.status === 'started' && a.boundary === 'none', 'only a start at boundary none is requeued');
  return {
    ...a,
    status: 'queued',
    ownerEpoch: null,
    executionGeneration: null,
    startedAt: null,
    requeueCount: a.requeueCount + 1,
  };
}

export function loseAdmission(a: Admission, evidence: Evidence): Admission {
  invariant(a.status === 'started', 'only a started admission is lost');
  return { ...a, status: 'unknown', evidence };
}

export function settleAdmission(
  a: Admission,
  end: {
    outcome: Exclude<AdmissionOutcome, 'cancelled'>;
    failure: Failure | null;
    evidence: Evidence | null;
    at: string;
  },
): Admission {
  invariant(a.status === 'started', 'only a started admission is settled');
  return {
    ...a,
    status: 'terminal',
    outcome: end.outcome,
    failure: end.failure,
    evidence: end.evidence ?? a.evidence,
    settledAt: end.at,
  };
}

export function resolveAdmission(a: Admission, resolution: Resolution, retriedBy: string | null): Admission {
  invariant(a.status === 'unknown', 'only an unknown admission is resolved');
  return { ...a, status: 'terminal', outcome: 'interrupted', resolution, retriedBy, settledAt: resolution.at };
}

export function editAdmission(a: Admission, payloadDigest: string): Admission {
  invariant(a.status === 'queued', 'only a queued admission is edited');
  return { ...a, payloadDigest, revision: a.revision + 1 };
}

/** Only the numbers in front of and behind the moved one may be changed with it, so any open admission may be given one. */
export function moveAdmission(a: Admission, position: number): Admission {
  invariant(a.status !== 'terminal', 'what has ended has no place in the queue');
  return { ...a, position, revision: a.revision + 1 };
}

export function cancelAdmission(a: Admission, at: string, failure: Failure | null = null): Admission {
  invariant(a.status === 'queued', 'only a queued admission is cancelled');
  return { ...a, status: 'terminal', outcome: 'cancelled', failure, revision: a.revision + 1, settledAt: at };
}

const boundaryOrder: Readonly<Record<Boundary, number>> = { none: 0, model: 1, tool: 2 };

function furthest(a: Boundary, b: Boundary): Boundary {
  return boundaryOrder[a] >= boundaryOrder[b] ? a : b;
}
