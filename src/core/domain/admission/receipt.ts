import type { Admission } from './admission.ts';
import { blockersOf } from '../session/state.ts';
import type { Blocker, SessionState } from '../session/state.ts';

/** What the sender of a prompt holds: enough to ask for its fate for ever. */
export interface Receipt {
  readonly admission: Admission;
  /** How many admissions of the session come before this one; 0 when it runs or has ended. */
  readonly ahead: number;
  /** Whether this answer repeats an earlier acceptance. */
  readonly duplicate: boolean;
  readonly blockedBy: readonly Blocker[];
}

export function receiptOf(state: SessionState, admission: Admission, duplicate: boolean): Receipt {
  const waits = admission.status === 'queued';
  return {
    admission,
    ahead: waits ? state.open.findLastIndex((other) => other.position < admission.position) + 1 : 0,
    duplicate,
    blockedBy: waits ? blockersOf(state) : [],
  };
}
