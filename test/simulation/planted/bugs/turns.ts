import type { PlantedBug } from '../planted-bug.ts';

/** Faults of a turn, from its claim to its end. */
export const turnsBugs: readonly PlantedBug[] = [
  {
    name: 'claims-behind-unknown',
    within: 300,
    breaks: ['P3', 'P5'],
    patches: [
      {
        file: 'core/domain/session/state.ts',
        from: `return state.open.find((admission) => admission.status === 'started' || admission.status === 'unknown');`,
        to: `return state.open.find((admission) => admission.status === 'started');`,
      },
      {
        file: 'core/domain/session/state.ts',
        from: `if (state.open.some((admission) => admission.status === 'unknown')) blockers.push('unknown_execution');`,
        to: '',
      },
    ],
  },
  {
    name: 'sent-before-boundary',
    within: 500,
    breaks: ['P4', 'P10'],
    patches: [
      {
        file: 'core/use-cases/turn.ts',
        from: `    const sent = await this.#deps.sessions.send(this.#sessionId, { kind: 'dispatch', executionGeneration, prompt });
    return sent.kind === 'done' ? this.#steps() : endingOf(sent, null);`,
        to: `    void this.#deps.sessions.send(this.#sessionId, { kind: 'dispatch', executionGeneration, prompt });
    return this.#steps();`,
      },
    ],
  },
  {
    name: 'interrupt-without-generation',
    within: 500,
    breaks: ['P5'],
    patches: [
      {
        file: 'core/domain/turn/interrupt.ts',
        from: `if (turn?.executionGeneration !== executionGeneration) {`,
        to: `if (turn === undefined) {`,
      },
    ],
  },
  {
    name: 'resolved-without-generation',
    within: 1000,
    breaks: ['P4'],
    patches: [
      {
        file: 'core/domain/admission/resolve-unknown.ts',
        from: `if (admission.executionGeneration !== command.executionGeneration) {`,
        to: `if (admission.executionGeneration === null) {`,
      },
    ],
  },
  {
    name: 'stop-ignored-on-settle',
    within: 300,
    breaks: ['P5'],
    patches: [
      {
        file: 'core/domain/turn/settle.ts',
        from: `const stopped = admission.stopRequested !== null;`,
        to: `const stopped = false as boolean;`,
      },
    ],
  },
  {
    name: 'closing-note-forgotten',
    within: 200,
    breaks: ['P10'],
    patches: [
      {
        file: 'core/domain/turn/close-turn.ts',
        from: `if (admission.promptMessageId === null) return [];`,
        to: `if (admission.promptMessageId === null || end.partial === null) return [];`,
      },
    ],
  },
  {
    name: 'draining-still-claims',
    within: 1500,
    breaks: ['stop'],
    patches: [
      {
        file: 'core/domain/turn/claim.ts',
        from: `if (context.draining) return refused({ reason: 'draining' });`,
        to: '',
      },
      {
        file: 'core/use-cases/gateway.ts',
        from: `    phase = 'draining';
    scheduler.stop();`,
        to: `    phase = 'draining';`,
      },
    ],
  },
  {
    name: 'queue-without-limit',
    within: 200,
    breaks: ['P13'],
    patches: [
      {
        file: 'core/domain/admission/submit.ts',
        from: `return queuedCount(state) >= limit ? { reason: 'queue_full', limit } : null;`,
        to: `return queuedCount(state) < 0 ? { reason: 'queue_full', limit } : null;`,
      },
    ],
  },
  {
    name: 'outage-burns-the-queue',
    within: 500,
    breaks: ['P6'],
    patches: [
      {
        file: 'core/domain/turn/settle.ts',
        from: `command.holdOnOutage && waits ? outageHold(state, failure, context.now) : null`,
        to: `command.holdOnOutage && failure === null ? outageHold(state, failure, context.now) : null`,
      },
    ],
  },
  {
    name: 'outage-of-a-summary-burns-its-prompt',
    within: 500,
    breaks: ['P6'],
    patches: [
      {
        file: 'core/use-cases/compressor.ts',
        from: `return { kind: 'failed', failure, noSummary: attempt.kind === 'failed' && attempt.noSummary };`,
        to: `return { kind: 'failed', failure, noSummary: false };`,
      },
    ],
  },
  {
    name: 'request-tried-for-ever',
    within: 500,
    breaks: ['P13', 'rest'],
    patches: [
      {
        file: 'core/domain/model/retry.ts',
        from: `if (!failure.retryable || attempts >= policy.maxAttempts) return { kind: 'give_up', failure };`,
        to: `if (!failure.retryable) return { kind: 'give_up', failure };`,
      },
    ],
  },
  // What follows was once in the core and was found by the simulator.
  {
    name: 'blank-answer-closes-a-turn',
    within: 1000,
    breaks: ['P10'],
    patches: [
      {
        file: 'core/domain/turn/close-turn.ts',
        from: `end.partial === null || end.partial.text.trim() === ''`,
        to: `end.partial === null`,
      },
    ],
  },
  {
    name: 'hidden-messages-forgotten',
    within: 1000,
    breaks: ['P9', 'P10', 'P13', 'bug'],
    patches: [
      {
        file: 'core/domain/session/evolve.ts',
        from: `if (ids.length === 0) return state;`,
        to: `if (ids.length >= 0) return state;`,
      },
    ],
  },
  {
    name: 'retry-behind-the-followers',
    within: 1000,
    seed: 11,
    breaks: ['P3'],
    patches: [
      {
        file: 'core/domain/admission/resolve-unknown.ts',
        from: `return { ...fresh, position: head === undefined || behind < head.position ? behind : head.position - 1 };`,
        to: `return head === undefined || behind < 0 ? { ...fresh, position: behind } : fresh;`,
      },
    ],
  },
];
