import type { PlantedBug } from '../planted-bug.ts';

/** Faults of what is done to prompts that wait: steering, edits, moves. */
export const queueBugs: readonly PlantedBug[] = [
  {
    name: 'steer-into-another-turn',
    within: 1000,
    seed: 2,
    breaks: ['P4', 'P5'],
    patches: [
      {
        file: 'core/domain/admission/steer.ts',
        from: `if (turn?.executionGeneration !== generation || turn.stopRequested !== null) {`,
        to: `if (turn === undefined || turn.stopRequested !== null) {`,
      },
    ],
  },
  {
    name: 'steer-forgotten-at-the-end',
    within: 500,
    breaks: ['P5'],
    patches: [
      {
        file: 'core/domain/turn/settle.ts',
        from: `[...messages, ...approvals, ...steers, settled, ...held]`,
        to: `[...messages, ...approvals, settled, ...held]`,
      },
    ],
  },
  {
    name: 'steers-not-joined',
    within: 1000,
    seed: 11,
    breaks: ['P10'],
    patches: [
      {
        file: 'core/domain/transcript/assemble.ts',
        from: `if (message.kind === 'steer' && before?.kind === 'steer')`,
        to: `if (message.kind === 'steer' && before === undefined)`,
      },
    ],
  },
  {
    name: 'started-prompt-edited',
    within: 500,
    breaks: ['P2', 'P3', 'P5'],
    patches: [
      {
        file: 'core/domain/admission/find.ts',
        from: `if (admission.status !== 'queued' || admission.delivery === 'steer')`,
        to: `if (admission.status === 'terminal' || admission.status === 'unknown' || admission.delivery === 'steer')`,
      },
      {
        file: 'core/domain/admission/admission.ts',
        from: `invariant(a.status === 'queued', 'only a queued admission is edited');`,
        to: ``,
      },
    ],
  },
  {
    name: 'steer-edited-in-flight',
    within: 1000,
    seed: 4,
    breaks: ['P2', 'P5', 'move'],
    patches: [
      {
        file: 'core/domain/admission/find.ts',
        from: `if (admission.status !== 'queued' || admission.delivery === 'steer')`,
        to: `if (admission.status !== 'queued')`,
      },
    ],
  },
  {
    name: 'edit-lost-while-its-turn-is-got-ready',
    within: 500,
    breaks: ['P2', 'P5'],
    patches: [
      {
        file: 'core/domain/turn/claim.ts',
        from: `return sameModel && revision === head.revision &&`,
        to: `return sameModel && revision > 0 &&`,
      },
    ],
  },
  {
    name: 'edit-changes-what-an-id-stands-for',
    within: 500,
    breaks: ['P2'],
    patches: [
      {
        file: 'core/domain/admission/admission.ts',
        from: `return { ...a, payloadDigest, revision: a.revision + 1 };`,
        to: `return { ...a, payloadDigest, requestDigest: payloadDigest, revision: a.revision + 1 };`,
      },
    ],
  },
  {
    name: 'move-overtakes-the-turn-that-runs',
    within: 1000,
    seed: 5,
    breaks: ['P3', 'move'],
    patches: [
      {
        file: 'core/domain/admission/move.ts',
        from: `const firstQueued = rest.findIndex(({ status }) => status === 'queued');`,
        to: `const firstQueued = rest.length === 0 ? -1 : 0;`,
      },
    ],
  },
  {
    name: 'moved-to-the-place-behind',
    within: 500,
    seed: 2,
    breaks: ['P3', 'move'],
    patches: [
      {
        file: 'core/domain/admission/move.ts',
        from: `const above = rest[index]?.position ?? ceiling;`,
        to: `const above = rest[index + 1]?.position ?? ceiling;`,
      },
    ],
  },
  {
    name: 'moved-prompt-claimed-at-its-old-place',
    within: 500,
    seed: 2,
    breaks: ['P3', 'P5', 'move'],
    patches: [
      {
        file: 'core/domain/session/evolve.ts',
        from: `const inOrder = after.open.toSorted((a, b) => a.position - b.position || a.seq - b.seq);`,
        to: `const inOrder = after.open;`,
      },
    ],
  },
  {
    name: 'queue-numbered-anew-without-room',
    within: 1500,
    seed: 4,
    breaks: ['P3', 'move'],
    patches: [
      {
        file: 'core/domain/admission/move.ts',
        from: `[admission, ceiling - (order.length - place) * positionGap] as const`,
        to: `[admission, ceiling + (place + 1) * positionGap] as const`,
      },
      {
        file: 'core/domain/admission/submit.ts',
        from: `return own > last ? own : last + positionGap;`,
        to: `return own;`,
      },
    ],
  },
];
