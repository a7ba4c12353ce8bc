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
  return {
    admission,
    ahead: waits ? countAhead(state, admission) : 0,
    duplicate,
    blockedBy: waits ? blockersOf(state) : [],
  };
}

function countAhead({ open }: SessionState, { position }: Admission): number {
  return open.reduce(
    (count, other) => (other.delivery === 'queue' && other.position < position ? count + 1 : count),
    0,
  );
}
