import type { Admission } from './admission.ts';
import { blockersOf } from '../session/state.ts';
import type { Blocker, SessionState } from '../session/state.ts';

/** What the sender of a prompt holds: enough to ask for its fate for ever. */
export interface Receipt {
  readonly admission: Admission;
  /** How many admissions of the session come before this one; 0 for one that runs, steers or has ended. */
  readonly ahead: number;
  /** Whether this answer repeats an earlier acceptance. */
  readonly duplicate: boolean;
  readonly blockedBy: readonly Blocker[];
}

export function receiptOf(state: SessionState, admission: Admission, duplicate: boolean): Receipt {
  const waits = admission.status === 'queued' && admission.delivery === 'queue';
  const inQueue = state.open.filter(({ delivery }) => delivery === 'queue');
  return {
    admission,
    ahead: waits ? inQueue.findLastIndex((other) => other.position < admission.position) + 1 : 0,
    duplicate,
    blockedBy: waits ? blockersOf(state) : [],
  };
}
