import type { AdmissionKey, Known } from '../session/commands.ts';
import { refused } from '../session/decision.ts';
import type { Verdict } from '../session/decision.ts';
import type { SessionState } from '../session/state.ts';
import type { Admission } from './admission.ts';
import { receiptOf } from './receipt.ts';

/** An open admission by either of its names. */
export function findOpen(state: SessionState, key: AdmissionKey): Admission | undefined {
  return state.open.find((admission) => hasKey(admission, key));
}

export function hasKey(admission: Admission, key: AdmissionKey): boolean {
  if ('admissionId' in key) return admission.admissionId === key.admissionId;
  return admission.inputId === key.inputId && admission.principalId === key.principalId;
}

/** Decides on the admission that `key` names, open or settled; asks for a settled one when nobody has looked yet. */
export function withAdmission<R>(
  state: SessionState,
  key: AdmissionKey,
  known: Known,
  decide: (admission: Admission) => Verdict<R>,
): Verdict<R> {
  const admission = findOpen(state, key) ?? known;
  if (admission === undefined) return { kind: 'needs_known', key };
  if (admission === null) return refused({ reason: 'not_found', what: 'admission' });
  return decide(admission);
}

/**
 * Decides on a prompt that still waits in the queue, at the revision that the caller has seen if it names one. A steer
 * waits for its turn's next step, which may be reading it already.
 */
export function withQueued<R>(
  state: SessionState,
  command: { readonly key: AdmissionKey; readonly known: Known; readonly revision: number | null },
  decide: (admission: Admission) => Verdict<R>,
): Verdict<R> {
  return withAdmission(state, command.key, command.known, (admission) => {
    const receipt = receiptOf(state, admission, false);
    if (admission.status !== 'queued' || admission.delivery === 'steer')
      return refused({ reason: 'not_queued', receipt });
    if (command.revision !== null && command.revision !== admission.revision) {
      return refused({ reason: 'revision_conflict', revision: admission.revision, receipt });
    }
    return decide(admission);
  });
}
