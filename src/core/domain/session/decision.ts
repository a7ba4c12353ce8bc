import type { ModelInputs } from '../admission/unsupported-parts.ts';
import type { SessionEventBody } from './events.ts';
import type { AdmissionKey } from './commands.ts';
import type { Refusal } from './refusal.ts';
import type { SessionState } from './state.ts';

/** What a decision depends on beside the state and the command. */
export interface DecideContext {
  /** ISO 8601, UTC. */
  readonly now: string;
  /** The epoch of the owner that decides. */
  readonly epoch: number;
  /** From the first stop signal on: nothing is claimed and no new prompt is taken. */
  readonly draining: boolean;
  /** The first of an unbounded run of message ids that nobody else uses. */
  readonly nextMessageId: number;
  /** The sequence number of the next admission. */
  readonly nextAdmissionSeq: number;
  readonly limits: DecideLimits;
}

export interface DecideLimits {
  readonly maxQueuedPerSession: number;
  /** The start that is lost for this many times ends the admission as `crash_loop`. */
  readonly maxLostStarts: number;
  /** What a model takes beside text. Absent: nobody says. */
  readonly takes?: (target: {
    readonly provider: string;
    readonly model: string;
    readonly baseUrl: string | null;
  }) => ModelInputs;
}

/** An event before it has a sequence number. */
export type UnnumberedEvent = SessionEventBody & {
  readonly admissionId: string | null;
  readonly executionGeneration: number | null;
};

export type Verdict<R> =
  | {
      readonly kind: 'accepted';
      readonly events: readonly UnnumberedEvent[];
      /** Computed from the state that the events lead to, so that an answer never describes the past. */
      readonly reply: (after: SessionState) => R;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The answer depends on a settled admission: read it, set `known`, and ask again. */
  | { readonly kind: 'needs_known'; readonly key: AdmissionKey };

export function accepted<R>(events: readonly UnnumberedEvent[], reply: (after: SessionState) => R): Verdict<R> {
  return { kind: 'accepted', events, reply };
}

export function refused(refusal: Refusal): Verdict<never> {
  return { kind: 'refused', refusal };
}

/** An event that concerns the session as a whole. */
export function sessionEvent(body: SessionEventBody): UnnumberedEvent {
  return { ...body, admissionId: null, executionGeneration: null };
}

/** An event in the life of one admission. */
export function admissionEvent(
  admission: { readonly admissionId: string; readonly executionGeneration: number | null },
  body: SessionEventBody,
): UnnumberedEvent {
  return { ...body, admissionId: admission.admissionId, executionGeneration: admission.executionGeneration };
}
