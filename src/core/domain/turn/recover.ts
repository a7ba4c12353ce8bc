import type { Admission, Evidence } from '../admission/admission.ts';
import { loseAdmission } from '../admission/admission.ts';
import { resolutionEvents } from '../admission/resolve-unknown.ts';
import { endedSteers } from '../admission/steer.ts';
import { closedApprovals } from '../approval/resolve-approval.ts';
import { failureOf } from '../model/failure.ts';
import type { Command, ReplyOf } from '../session/commands.ts';
import { accepted, admissionEvent, sessionEvent } from '../session/decision.ts';
import type { DecideContext, UnnumberedEvent, Verdict } from '../session/decision.ts';
import type { SessionState } from '../session/state.ts';
import { closeTurn } from './close-turn.ts';

/**
 * Puts right what an owner of an older epoch left behind. Repeating it changes nothing.
 *
 * R1: a turn that was asked to stop ends `interrupted`, whatever its boundary. R2: a turn at boundary `none` goes back
 * to its own place, and the third lost start ends it as `crash_loop`. R3: every other turn becomes `unknown`, even if
 * the owner died just before the send. R4: a compression left open has failed; the transcript is what it was. R5: a request for
 * approval that is open is closed: nobody would start its call, and the evidence doesn't name it. R6: steers were meant for the
 * run that was lost, whatever becomes of their turn.
 */
export function decideRecover(
  state: SessionState,
  command: Command<'recover'>,
  context: DecideContext,
): Verdict<ReplyOf<'recover'>> {
  const turn = state.open.find((a) => a.status === 'started' && (a.ownerEpoch ?? 0) < context.epoch);
  const fate = turn === undefined ? null : fateOf(turn, context);
  const events = [...lostCompression(state, context)];
  if (turn !== undefined && fate !== null) {
    events.push(...closedApprovals(state, turn, { reason: 'owner_lost', by: 'gateway' }, context));
    events.push(...endedSteers(state));
    events.push(...turnEvents[fate](state, turn, command, context));
  }
  return accepted(events, () => ({
    requeued: fate === 'requeued' ? 1 : 0,
    lost: fate === 'lost' ? 1 : 0,
    ended: fate === 'stopped' || fate === 'crash_loop' ? 1 : 0,
  }));
}

type Fate = 'stopped' | 'requeued' | 'crash_loop' | 'lost';

function fateOf(turn: Admission, context: DecideContext): Fate {
  if (turn.stopRequested !== null) return 'stopped';
  if (turn.boundary !== 'none') return 'lost';
  return turn.requeueCount + 1 >= context.limits.maxLostStarts ? 'crash_loop' : 'requeued';
}

const turnEvents: Readonly<
  Record<
    Fate,
    (
      s: SessionState,
      turn: Admission,
      command: Command<'recover'>,
      context: DecideContext,
    ) => readonly UnnumberedEvent[]
  >
> = {
  stopped: (state, turn, _command, context) => [
    ...closeTurn(state, turn, { ending: 'stopped', partial: null }, context),
    admissionEvent(turn, {
      type: 'turn.settled',
      outcome: 'interrupted',
      failure: null,
      evidence: evidenceOf(state, turn, context),
      usage: null,
      hidden: [],
    }),
  ],
  requeued: (_state, turn) => [
    admissionEvent(turn, { type: 'admission.requeued', requeueCount: turn.requeueCount + 1 }),
  ],
  crash_loop: (state, turn, _command, context) => [
    admissionEvent(turn, {
      type: 'turn.settled',
      outcome: 'failed',
      failure: failureOf(
        'crash_loop',
        `The gateway died ${String(turn.requeueCount + 1)} times while this turn was starting.`,
      ),
      evidence: evidenceOf(state, turn, context),
      usage: null,
      hidden: [],
    }),
  ],
  lost: (state, turn, command, context) => {
    const evidence = evidenceOf(state, turn, context);
    const lost = admissionEvent(turn, { type: 'turn.lost', evidence });
    if (command.onUnknown === 'hold') return [lost];
    const resolution = { action: 'discard', by: 'policy', at: context.now } as const;
    return [lost, ...resolutionEvents(state, loseAdmission(turn, evidence), resolution, null, context)];
  },
};

function lostCompression(state: SessionState, context: DecideContext): readonly UnnumberedEvent[] {
  const open = state.lineage.open;
  if (open === null || open.epoch >= context.epoch) return [];
  return [
    sessionEvent({
      type: 'compression.failed',
      compressionId: open.compressionId,
      failure: failureOf('aborted', 'The gateway stopped while the transcript was being compressed.', {
        retryable: true,
      }),
      usage: null,
      opensBreaker: false,
    }),
  ];
}

function evidenceOf(state: SessionState, turn: Admission, context: DecideContext): Evidence {
  return {
    boundary: turn.boundary,
    ownerEpoch: turn.ownerEpoch ?? 0,
    startedAt: turn.startedAt ?? turn.acceptedAt,
    lostAt: context.now,
    step: turn.step,
    openToolCalls: state.runningCalls.map(({ callId }) => callId),
  };
}
