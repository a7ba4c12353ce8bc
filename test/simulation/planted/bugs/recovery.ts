import type { PlantedBug } from '../planted-bug.ts';

/** Faults of what a fresh process makes of the turns of the one before. */
export const recoveryBugs: readonly PlantedBug[] = [
  {
    name: 'dispatched-turn-requeued',
    within: 300,
    breaks: ['P4'],
    patches: [
      { file: 'core/domain/turn/recover.ts', from: `if (turn.boundary !== 'none') return 'lost';`, to: '' },
      {
        file: 'core/domain/admission/admission.ts',
        from: `invariant(a.status === 'started' && a.boundary === 'none', 'only a start at boundary none is requeued');`,
        to: '',
      },
    ],
  },
  {
    name: 'recovery-wakes-nobody',
    within: 300,
    breaks: ['P6'],
    patches: [{ file: 'core/use-cases/gateway.ts', from: `if (state !== null) consider(sessionId, state);`, to: '' }],
  },
  {
    name: 'recovery-stops-at-the-first-session',
    within: 1000,
    breaks: ['P4'],
    patches: [
      {
        file: 'core/use-cases/recovery.ts',
        from: `for (const sessionId of unfinished) {`,
        to: `for (const sessionId of unfinished.slice(0, 1)) {`,
      },
    ],
  },
  {
    name: 'stop-forgotten-by-recovery',
    within: 1000,
    seed: 10,
    breaks: ['P5'],
    patches: [
      { file: 'core/domain/turn/recover.ts', from: `if (turn.stopRequested !== null) return 'stopped';`, to: '' },
    ],
  },
  {
    name: 'crash-loop-without-end',
    within: 3000,
    seed: 4,
    breaks: ['P13'],
    patches: [
      {
        file: 'core/domain/turn/recover.ts',
        from: `return turn.requeueCount + 1 >= context.limits.maxLostStarts ? 'crash_loop' : 'requeued';`,
        to: `return 'requeued';`,
      },
    ],
  },
  {
    name: 'hold-without-its-end-after-a-restart',
    within: 3000,
    breaks: ['P6'],
    patches: [
      {
        file: 'core/use-cases/gateway.ts',
        from: `if (state !== null) consider(sessionId, state);`,
        to: `if (state !== null) scheduler.consider(sessionId, state);`,
      },
    ],
  },
  {
    name: 'tool-turn-run-again-after-recovery',
    within: 500,
    breaks: ['P4'],
    patches: [
      {
        file: 'core/domain/turn/recover.ts',
        from: `if (turn.boundary !== 'none') return 'lost';`,
        to: `if (turn.boundary === 'model') return 'lost';`,
      },
      {
        file: 'core/domain/admission/admission.ts',
        from: `invariant(a.status === 'started' && a.boundary === 'none', 'only a start at boundary none is requeued');`,
        to: '',
      },
    ],
  },
  {
    name: 'evidence-without-open-calls',
    within: 1000,
    seed: 2,
    breaks: ['P5', 'bug', 'P10'],
    patches: [
      {
        file: 'core/domain/turn/recover.ts',
        from: `openToolCalls: state.runningCalls.map(({ callId }) => callId),`,
        to: `openToolCalls: [],`,
      },
    ],
  },
  {
    name: 'waiting-call-in-the-evidence',
    within: 1000,
    seed: 3,
    breaks: ['P5'],
    patches: [
      {
        file: 'core/domain/turn/recover.ts',
        from: `openToolCalls: state.runningCalls.map(({ callId }) => callId),`,
        to: `openToolCalls: [...state.runningCalls, ...state.approvals].map(({ callId }) => callId),`,
      },
    ],
  },
  {
    name: 'steer-forgotten-by-recovery',
    within: 1000,
    seed: 2,
    breaks: ['P5'],
    patches: [{ file: 'core/domain/turn/recover.ts', from: `events.push(...endedSteers(state));`, to: '' }],
  },
  {
    name: 'approval-left-open-by-recovery',
    within: 500,
    seed: 3,
    breaks: ['P5'],
    patches: [
      {
        file: 'core/domain/turn/recover.ts',
        from: `events.push(...closedApprovals(state, turn, { reason: 'owner_lost', by: 'gateway' }, context));`,
        to: '',
      },
    ],
  },
  {
    name: 'compression-by-hand-left-open-by-recovery',
    within: 1500,
    breaks: ['P9'],
    patches: [
      {
        file: 'core/domain/turn/recover.ts',
        from: `if (open === null || open.epoch >= context.epoch) return [];`,
        to: `if (open === null || open.epoch >= context.epoch || open.trigger === 'manual') return [];`,
      },
    ],
  },
];
