import type { Command } from '../session/commands.ts';
import { accepted, admissionEvent, refused } from '../session/decision.ts';
import type { DecideContext, Verdict } from '../session/decision.ts';
import type { Refusal } from '../session/refusal.ts';
import { queuedCount } from '../session/state.ts';
import type { SessionState } from '../session/state.ts';
import { positionGap } from './admission.ts';
import type { Admission } from './admission.ts';
import { receiptOf } from './receipt.ts';
import type { Receipt } from './receipt.ts';
import { unsupportedParts } from './unsupported-parts.ts';

/**
 * Takes a prompt into the queue, or repeats the receipt of the one that has its id (P2).
 *
 * A settled admission with the same id is usually noticed by the ledger's unique index, which saves a read for each
 * fresh prompt. Only when the prompt would be refused is the id looked up first: a known id is answered in every state.
 */
export function decideSubmit(
  state: SessionState,
  command: Command<'submit'>,
  context: DecideContext,
): Verdict<Receipt> {
  const refusal = queueRefusal(state, command, context);
  return admit(state, command, context, refusal, () => newAdmission(state, command, context));
}

/** Admits what `make` makes, unless it is known already or refused: a known id is answered in every state. */
export function admit(
  state: SessionState,
  command: Command<'submit' | 'steer'>,
  context: DecideContext,
  whyNot: Refusal | null,
  make: () => Admission,
): Verdict<Receipt> {
  const known = openByInputId(state, command) ?? command.known;
  if (known) {
    const receipt = receiptOf(state, known, true);
    if (known.requestDigest !== command.requestDigest) return refused({ reason: 'admission_conflict', receipt });
    return accepted([], (after) => receiptOf(after, known, true));
  }
  const refusal = whyNotAdmitted(state, context, whyNot);
  if (refusal !== null) return known === undefined ? needsKnown(command) : refused(refusal);
  const admission = make();
  const event = admissionEvent(admission, { type: 'admission.queued', admission, payload: command.payload });
  return accepted([event], (after) => receiptOf(after, admission, false));
}

/** A deleted session has nothing but what it knew; a gateway that drains takes nothing new. */
function whyNotAdmitted(state: SessionState, context: DecideContext, whyNot: Refusal | null): Refusal | null {
  if (state.deletedAt !== null) return { reason: 'not_found', what: 'session' };
  return context.draining ? { reason: 'draining' } : whyNot;
}

/** A fresh admission at the end of the queue. */
export function newAdmission(
  state: SessionState,
  fields: Pick<Admission, 'admissionId' | 'inputId' | 'principalId' | 'requestDigest' | 'payloadDigest'>,
  context: DecideContext,
): Admission {
  return {
    seq: context.nextAdmissionSeq,
    admissionId: fields.admissionId,
    inputId: fields.inputId,
    sessionId: state.sessionId,
    principalId: fields.principalId,
    position: endOfQueue(state, context),
    revision: 1,
    status: 'queued',
    outcome: null,
    delivery: 'queue',
    steers: null,
    mergedInto: null,
    requestDigest: fields.requestDigest,
    payloadDigest: fields.payloadDigest,
    ownerEpoch: null,
    executionGeneration: null,
    boundary: 'none',
    requeueCount: 0,
    step: 0,
    promptMessageId: null,
    stopRequested: null,
    evidence: null,
    failure: null,
    resolution: null,
    retriedBy: null,
    acceptedAt: context.now,
    startedAt: null,
    settledAt: null,
  };
}

/**
 * The position behind everybody who is there. A number that was given out and never stored comes again after a restart,
 * so that a prompt which was moved to the end may stand behind the place that the next number has by itself.
 */
export function endOfQueue({ open }: SessionState, { nextAdmissionSeq }: DecideContext): number {
  const last = open.at(-1)?.position ?? 0;
  const own = nextAdmissionSeq * positionGap;
  return own > last ? own : last + positionGap;
}

function openByInputId(state: SessionState, command: Command<'submit' | 'steer'>): Admission | undefined {
  return state.open.find((a) => a.inputId === command.inputId && a.principalId === command.principalId);
}

/** Why nothing like this can join the queue at the moment. */
export function queueRefusal(
  state: SessionState,
  { payload }: Pick<Command<'submit'>, 'payload'>,
  context: DecideContext,
): Refusal | null {
  const parts = unsupportedParts(payload.parts, () => context.limits.takes?.(state.profile) ?? {});
  if (parts.length > 0) return { reason: 'unsupported_parts', parts };
  const limit = context.limits.maxQueuedPerSession;
  return queuedCount(state) >= limit ? { reason: 'queue_full', limit } : null;
}

function needsKnown(command: Command<'submit' | 'steer'>): Verdict<never> {
  return { kind: 'needs_known', key: { inputId: command.inputId, principalId: command.principalId } };
}
