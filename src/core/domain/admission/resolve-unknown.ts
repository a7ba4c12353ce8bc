import type { Command } from '../session/commands.ts';
import { accepted, admissionEvent, refused } from '../session/decision.ts';
import type { DecideContext, UnnumberedEvent, Verdict } from '../session/decision.ts';
import type { ReplyOf } from '../session/commands.ts';
import { queueHead } from '../session/state.ts';
import type { SessionState } from '../session/state.ts';
import { closeTurn } from '../turn/close-turn.ts';
import { resolveAdmission } from './admission.ts';
import type { Admission, Resolution } from './admission.ts';
import { withAdmission } from './find.ts';
import { receiptOf } from './receipt.ts';
import { newAdmission } from './submit.ts';

/**
 * Ends a turn whose fate nobody knows, as `interrupted`; `retry` also admits its prompt anew, at the old place, under
 * a new id. The outcome of the old id never changes, and a repeat gets the same receipt.
 */
export function decideResolveUnknown(
  state: SessionState,
  command: Command<'resolve_unknown'>,
  context: DecideContext,
): Verdict<ReplyOf<'resolve_unknown'>> {
  return withAdmission(state, { admissionId: command.admissionId }, command.known, (admission) => {
    const receipt = receiptOf(state, admission, true);
    if (admission.status !== 'unknown' && admission.resolution === null)
      return refused({ reason: 'not_unknown', receipt });
    if (admission.executionGeneration !== command.executionGeneration) {
      return refused({ reason: 'stale_generation', executionGeneration: admission.executionGeneration ?? 0 });
    }
    if (admission.resolution !== null) return repeated(state, admission, command);
    const resolution = { action: command.action, by: command.by, at: context.now };
    const retry = command.action === 'retry' ? retryOf(state, admission, command.retryAdmissionId, context) : null;
    const resolved = resolveAdmission(admission, resolution, retry?.admissionId ?? null);
    return accepted(resolutionEvents(state, admission, resolution, retry, context), (after) => ({
      receipt: receiptOf(after, resolved, false),
      retry: retry === null ? null : receiptOf(after, retry, false),
    }));
  });
}

/** What resolving an unknown admission appends; recovery uses it too, where the policy decides. */
export function resolutionEvents(
  state: SessionState,
  admission: Admission,
  resolution: Resolution,
  retry: Admission | null,
  context: DecideContext,
): readonly UnnumberedEvent[] {
  const events = [
    ...closeTurn(state, admission, { ending: 'lost', partial: null }, context),
    admissionEvent(admission, { type: 'turn.resolved', resolution, retriedBy: retry?.admissionId ?? null }),
  ];
  if (retry !== null) {
    const payloadFrom = admission.admissionId;
    events.push(admissionEvent(retry, { type: 'admission.queued', admission: retry, payloadFrom }));
  }
  return events;
}

function repeated(
  state: SessionState,
  admission: Admission,
  command: Command<'resolve_unknown'>,
): Verdict<ReplyOf<'resolve_unknown'>> {
  const receipt = receiptOf(state, admission, true);
  if (admission.resolution?.action !== command.action) return refused({ reason: 'already_resolved', receipt });
  if (admission.retriedBy === null) return accepted([], () => ({ receipt, retry: null }));
  const key = { admissionId: admission.retriedBy };
  return withAdmission(state, key, command.knownRetry, (retry) =>
    accepted([], (after) => ({ receipt, retry: receiptOf(after, retry, true) })),
  );
}

/** The prompt anew, just behind the place that the lost turn leaves and before everything that waits. */
function retryOf(state: SessionState, admission: Admission, admissionId: string, context: DecideContext): Admission {
  const fresh = newAdmission(
    state,
    {
      admissionId,
      inputId: nextRetryId(admission.inputId),
      principalId: admission.principalId,
      requestDigest: admission.requestDigest,
      payloadDigest: admission.payloadDigest,
    },
    context,
  );
  const head = queueHead(state);
  const behind = admission.position + 1;
  return { ...fresh, position: head === undefined || behind < head.position ? behind : head.position - 1 };
}

/** `a` → `a~1` → `a~2`: clients can't choose an id with `~`, so no retry meets a prompt of theirs. */
function nextRetryId(inputId: string): string {
  const mark = inputId.lastIndexOf('~');
  if (mark < 0) return `${inputId}~1`;
  return `${inputId.slice(0, mark)}~${String(Number(inputId.slice(mark + 1)) + 1)}`;
}
