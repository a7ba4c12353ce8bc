import type { Command, ReplyOf } from '../session/commands.ts';
import { accepted, admissionEvent } from '../session/decision.ts';
import type { DecideContext, UnnumberedEvent, Verdict } from '../session/decision.ts';
import type { Refusal } from '../session/refusal.ts';
import { occupant, waitingSteers } from '../session/state.ts';
import type { SessionState } from '../session/state.ts';
import { failureOf } from '../model/failure.ts';
import { appendedEvents } from '../turn/close-turn.ts';
import { withUnstoppedTurn } from '../turn/running.ts';
import type { Admission } from './admission.ts';
import { receiptOf } from './receipt.ts';
import type { Receipt } from './receipt.ts';
import { admit, newAdmission, queueRefusal } from './submit.ts';

/*
 * A steer is a prompt for a turn that runs. It is accepted like every other one and never claimed.
 *
 * S1: it waits only while the turn of its generation runs. S2: the append that puts its text into the turn ends it.
 * S3: the append that ends the run of the turn, in whatever way, gives every steer that waits its fate.
 */

/** Takes a steer for the running turn, or repeats the receipt of the one that has its id (P2). */
export function decideSteer(state: SessionState, command: Command<'steer'>, context: DecideContext): Verdict<Receipt> {
  const { executionGeneration: generation, ifOver } = command;
  const refusal = whyNotSteer(state, generation) ?? queueRefusal(state, command, context);
  return admit(state, command, context, refusal, () => ({
    ...newAdmission(state, command, context),
    delivery: 'steer',
    steers: { generation, ifOver },
  }));
}

/** A turn that is to stop takes no more steps, so that it is as good as over. */
function whyNotSteer(state: SessionState, generation: number): Refusal | null {
  const { executionGeneration } = state;
  const turn = occupant(state);
  if (generation > executionGeneration) return { reason: 'stale_generation', executionGeneration };
  if (turn?.executionGeneration !== generation || turn.stopRequested !== null) {
    return { reason: 'turn_over', executionGeneration };
  }
  return turn.status === 'unknown' ? { reason: 'unknown_execution', receipt: receiptOf(state, turn, true) } : null;
}

/** Puts the texts of steers into their turn, just before its next request. One that waits no more is passed over. */
export function decideMergeSteers(
  state: SessionState,
  command: Command<'merge_steers'>,
  context: DecideContext,
): Verdict<ReplyOf<'merge_steers'>> {
  return withUnstoppedTurn(state, command.executionGeneration, context, (turn) => {
    const waiting = new Map(waitingSteers(state).map((steer) => [steer.admissionId, steer]));
    const merged = command.steers.flatMap(({ admissionId, message }) => {
      const steer = waiting.get(admissionId);
      return steer === undefined ? [] : [{ steer, message }];
    });
    const at = { ...context, step: command.step, contextTokens: null, boundary: null };
    const messages = appendedEvents(
      turn,
      merged.map(({ message }) => message),
      at,
    );
    const ends = merged.map(({ steer }, index) =>
      admissionEvent(steer, {
        type: 'admission.merged',
        into: turn.admissionId,
        messageId: context.nextMessageId + index,
      }),
    );
    return accepted([...messages, ...ends], () => ({ merged: ends.length }));
  });
}

/** What becomes of the steers that still wait when their turn runs no more. */
export function endedSteers(state: SessionState): readonly UnnumberedEvent[] {
  return waitingSteers(state).map((steer) => admissionEvent(steer, endOf(steer)));
}

function endOf(steer: Admission): Parameters<typeof admissionEvent>[1] {
  if (steer.steers?.ifOver === 'queue') return { type: 'admission.requeued', requeueCount: steer.requeueCount };
  const failure = failureOf('turn_over', 'The turn was over before its next step, so the text did not reach it.');
  return { type: 'admission.cancelled', failure };
}
