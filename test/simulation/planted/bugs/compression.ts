import type { PlantedBug } from '../planted-bug.ts';

const projection = 'adapters/outbound/memory/project-event.ts';

/** Faults of compressions, in a turn and by hand. */
export const compressionBugs: readonly PlantedBug[] = [
  {
    name: 'rotated-in-two-appends',
    within: 300,
    breaks: ['P7'],
    patches: [
      {
        file: projection,
        from: `    case 'compression.started':
    case 'compression.failed':
      return recordCompression(tables, undo, event);`,
        to: `    case 'compression.started': {
      const tip = tables.transcripts.get(after.lineage.tipId);
      if (tip !== undefined) undo.put(tables.transcripts, tip.id, { ...tip, endedAt: event.at, endReason: 'compression' });
      return recordCompression(tables, undo, event);
    }
    case 'compression.failed':
      return recordCompression(tables, undo, event);`,
      },
      { file: projection, from: `invariant(parent?.endedAt === null, 'only an open transcript is rotated');`, to: '' },
    ],
  },
  {
    name: 'second-child-of-a-stale-parent',
    within: 1000,
    seed: 3,
    breaks: ['P7', 'P9'],
    patches: [
      {
        file: 'core/domain/lineage/compress.ts',
        from: `const parentId = state.lineage.tipId;`,
        to: `const parentId = state.lineage.rootId;`,
      },
      {
        file: 'core/domain/lineage/lineage.ts',
        from: `invariant(lineage.tipId === done.parentId, 'L4: only the tip is rotated');`,
        to: '',
      },
      { file: projection, from: `invariant(parent?.endedAt === null, 'only an open transcript is rotated');`, to: '' },
    ],
  },
  {
    name: 'usage-anchor-kept',
    within: 3000,
    seed: 2,
    breaks: ['P9'],
    patches: [
      {
        file: 'core/domain/session/evolve.ts',
        from: `    messages: messagesAfter(state.messages, event),
    usageAnchor: null,`,
        to: `    messages: messagesAfter(state.messages, event),`,
      },
    ],
  },
  {
    name: 'copy-without-its-origin',
    within: 500,
    breaks: ['P9'],
    patches: [
      {
        file: 'core/domain/lineage/compress.ts',
        from: `message: { ...message, id: firstId + index }`,
        to: `message: { ...message, id: firstId + index, originId: firstId + index }`,
      },
    ],
  },
  {
    name: 'cut-off-summary-accepted',
    within: 1000,
    breaks: ['P9'],
    patches: [
      {
        file: 'core/domain/compression/acceptance.ts',
        from: `if (answer.finishReason !== 'stop')`,
        to: `if (answer.finishReason === 'content_filter')`,
      },
    ],
  },
  {
    name: 'summaries-stacked',
    within: 1500,
    seed: 21,
    breaks: ['P9'],
    patches: [
      {
        file: 'core/domain/compression/plan.ts',
        from: `if (messages > n || group[0]?.kind === 'summary') break;`,
        to: `if (messages > n) break;`,
      },
    ],
  },
  {
    name: 'claims-while-compressed-by-hand',
    within: 1000,
    breaks: ['P3', 'bug'],
    patches: [
      {
        file: 'core/domain/session/state.ts',
        from: `if (state.lineage.open?.trigger === 'manual') blockers.push('compressing');`,
        to: '',
      },
    ],
  },
  {
    name: 'compressed-by-hand-beside-a-turn',
    within: 500,
    breaks: ['P3', 'P4', 'bug'],
    patches: [
      {
        file: 'core/domain/lineage/compress.ts',
        from: `if (turn !== undefined || state.lineage.open !== null) {`,
        to: `if (state.lineage.open !== null) {`,
      },
      {
        file: 'core/domain/session/evolve.ts',
        from: `invariant(!byHand || occupant(state) === undefined, 'nothing runs beside a compression by hand');`,
        to: '',
      },
    ],
  },
  {
    name: 'stopped-compression-commits-all-the-same',
    within: 1000,
    breaks: ['P5', 'P9', 'bug', 'rest'],
    patches: [
      {
        file: 'core/domain/turn/interrupt.ts',
        from: `return accepted([stopped(byHand, by)], () => ({ executionGeneration, admissionId: null }));`,
        to: `return accepted([], () => ({ executionGeneration, admissionId: null }));`,
      },
    ],
  },
  {
    name: 'request-by-hand-started-twice',
    within: 1500,
    seed: 4,
    breaks: ['P2', 'bug'],
    patches: [
      {
        file: 'core/use-cases/compress-by-hand.ts',
        from: `if (known !== null) return this.#known(sessionId, known, requestDigest);`,
        to: `if (known?.status === 'started') return this.#known(sessionId, known, requestDigest);`,
      },
      {
        file: projection,
        from: `invariant(!tables.compressionByRequest.has(key), 'a request starts one compression');`,
        to: '',
      },
    ],
  },
  {
    name: 'deleted-session-compressed-by-hand',
    within: 1500,
    breaks: ['deletion'],
    patches: [
      {
        file: 'core/use-cases/compress-by-hand.ts',
        from: `if (state === null || state.deletedAt !== null) {`,
        to: `if (state === null) {`,
      },
    ],
  },
];
