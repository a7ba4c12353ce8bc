import type { PlantedBug } from '../planted-bug.ts';

const store = 'adapters/outbound/memory/memory-store.ts';
const projection = 'adapters/outbound/memory/project-event.ts';

/** Faults of what is done to whole sessions: updates, deletion, forks, history. */
export const sessionsBugs: readonly PlantedBug[] = [
  {
    name: 'older-model-asked-after-an-update',
    within: 1500,
    seed: 2,
    breaks: ['update'],
    patches: [
      {
        file: 'core/domain/turn/claim.ts',
        from: `return sameModel && revision === head.revision &&`,
        to: `return revision === head.revision &&`,
      },
    ],
  },
  {
    name: 'deletion-forgets-payloads',
    within: 300,
    seed: 2,
    breaks: ['deletion'],
    patches: [
      {
        file: projection,
        from: `for (const admissionId of tables.admissions.get(sessionId)?.keys() ?? []) undo.delete(tables.payloads, admissionId);`,
        to: ``,
      },
    ],
  },
  {
    name: 'deletion-leaves-the-log',
    within: 300,
    breaks: ['deletion'],
    patches: [
      {
        file: store,
        from: `if (event.type === 'session.deleted') undo.put(this.#tables.events, sessionId, (log = []));`,
        to: ``,
      },
    ],
  },
  {
    name: 'deleted-while-a-follower-waits',
    within: 300,
    breaks: ['deletion', 'bug'],
    patches: [
      {
        file: 'core/domain/session/delete.ts',
        from: `const [first] = state.open;`,
        to: `const first = state.open.find(({ status }) => status !== 'queued');`,
      },
      {
        file: 'core/domain/session/evolve.ts',
        from: `invariant(state.open.length === 0 && state.lineage.open === null, 'only a settled session is deleted');`,
        to: ``,
      },
    ],
  },
  {
    name: 'deletion-forgets-known-ids',
    within: 1000,
    seed: 2,
    breaks: ['P2'],
    patches: [
      {
        file: 'core/domain/session/decide.ts',
        from: `new Set<CommandKind>(['submit', 'steer', 'receipt', 'delete']);`,
        to: `new Set<CommandKind>(['delete']);`,
      },
    ],
  },
  {
    name: 'fork-cuts-a-call-from-its-result',
    within: 1000,
    breaks: ['fork', 'P10'],
    patches: [
      {
        file: 'core/domain/transcript/replay.ts',
        from: `return withoutLooseEnd(taken);`,
        to: `return transcript.slice(0, index + 1);`,
      },
    ],
  },
  {
    name: 'fork-keeps-a-paste-that-was-too-large',
    within: 3000,
    seed: 5,
    breaks: ['fork'],
    patches: [
      {
        file: 'core/use-cases/fork-session.ts',
        from: `messages.filter(({ id }) => !next.hidden.includes(id))`,
        to: `messages`,
      },
    ],
  },
  {
    name: 'fork-is-deleted-with-its-origin',
    within: 3000,
    seed: 14,
    breaks: ['fork', 'P9', 'bug'],
    patches: [
      {
        file: projection,
        from: `if (row.sessionId !== sessionId) continue;`,
        to: `if (row.sessionId !== sessionId && tables.states.get(row.sessionId)?.profile.forkedFrom?.sessionId !== sessionId) continue;`,
      },
    ],
  },
  {
    name: 'update-ignores-a-stale-revision',
    within: 500,
    breaks: ['update'],
    patches: [
      {
        file: 'core/domain/session/update.ts',
        from: `if (revision !== null && revision !== state.revision) {`,
        to: `if (revision !== null && revision > state.revision) {`,
      },
    ],
  },
  {
    name: 'history-forgets-what-left-the-transcript',
    within: 1500,
    breaks: ['history'],
    patches: [
      {
        file: 'adapters/outbound/memory/memory-history.ts',
        from: `if (row === null) return null;`,
        to: `if (row?.active !== true) return null;`,
      },
    ],
  },
];
