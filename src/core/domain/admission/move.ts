import type { AdmissionKey, Command } from '../session/commands.ts';
import { accepted, admissionEvent, refused } from '../session/decision.ts';
import type { DecideContext, Verdict } from '../session/decision.ts';
import type { SessionState } from '../session/state.ts';
import { positionGap } from './admission.ts';
import type { Admission } from './admission.ts';
import { findOpen, withQueued } from './find.ts';
import { receiptOf } from './receipt.ts';
import type { Receipt } from './receipt.ts';
import { endOfQueue } from './submit.ts';

/** A place among the prompts that wait. */
export type QueuePlace = 'first' | 'last' | { readonly before: AdmissionKey };

/**
 * Gives a prompt that waits another place. It never overtakes the turn that runs, and a prompt that is submitted later
 * always comes behind it: that one joins at the end of the queue as it is then.
 */
export function decideMove(state: SessionState, command: Command<'move'>, context: DecideContext): Verdict<Receipt> {
  return withQueued(state, command, (admission) => {
    const rest = state.open.filter((other) => other !== admission);
    const index = placeIn(rest, command.to);
    if (index === null) return refused({ reason: 'not_found', what: 'admission' });
    if (state.open.indexOf(admission) === index) return accepted([], (after) => receiptOf(after, admission, false));
    const ceiling = endOfQueue(state, context);
    const events = newPositions(rest, admission, index, ceiling).map(([moved, position]) =>
      admissionEvent(moved, { type: 'admission.moved', position }),
    );
    return accepted(events, (after) => receiptOf(after, findOpen(after, admission) ?? admission, false));
  });
}

/** The index in the queue without the moved prompt, or null when the neighbour doesn't wait. */
function placeIn(rest: readonly Admission[], to: QueuePlace): number | null {
  const firstQueued = rest.findIndex(({ status }) => status === 'queued');
  if (to === 'last' || (to === 'first' && firstQueued < 0)) return rest.length;
  if (to === 'first') return firstQueued;
  const index = rest.findIndex((other) => 'admissionId' in to.before && other.admissionId === to.before.admissionId);
  return rest[index]?.status === 'queued' ? index : null;
}

/** A number between the neighbours; where there is none left, the whole queue is numbered anew in the new order. */
function newPositions(
  rest: readonly Admission[],
  moved: Admission,
  index: number,
  ceiling: number,
): readonly (readonly [Admission, number])[] {
  const above = rest[index]?.position ?? ceiling;
  const below = rest[index - 1]?.position ?? above - 2 * positionGap;
  const between = Math.floor((below + above) / 2);
  if (between > below && between < above) return [[moved, between]];
  const order = rest.toSpliced(index, 0, moved);
  const renumbered = order.map(
    (admission, place) => [admission, ceiling - (order.length - place) * positionGap] as const,
  );
  return renumbered.filter(([admission, position]) => admission === moved || admission.position !== position);
}
