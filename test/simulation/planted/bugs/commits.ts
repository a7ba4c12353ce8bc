import type { PlantedBug } from '../planted-bug.ts';

const actor = 'core/use-cases/session-actor.ts';
const store = 'adapters/outbound/memory/memory-store.ts';
const projection = 'adapters/outbound/memory/project-event.ts';

/** Faults of the actor, the ledger and of what clients are told. */
export const commitsBugs: readonly PlantedBug[] = [
  {
    name: 'fence-forgotten',
    within: 1000,
    breaks: ['P11'],
    patches: [
      {
        file: store,
        from: `if (epoch < this.epoch) return { kind: 'stale_epoch', epoch: this.epoch };`,
        to: '',
      },
    ],
  },
  {
    name: 'acknowledged-before-commit',
    within: 100,
    breaks: ['P1', 'P5'],
    patches: [
      {
        file: actor,
        from: `await this.#pass(kinds, 'before_commit');`,
        to: `for (const [index, waiting] of batch.entries()) waiting.answer(sentOf(plan.decisions[index]));`,
      },
    ],
  },
  {
    name: 'published-before-commit',
    within: 100,
    breaks: ['P5', 'P1'],
    patches: [
      {
        file: actor,
        from: `await this.#pass(kinds, 'before_commit');`,
        to: `if (plan.state !== null) this.#deps.onCommit(this.#sessionId, plan.state, plan.events);`,
      },
    ],
  },
  {
    name: 'duplicates-unchecked',
    within: 200,
    breaks: ['P2'],
    patches: [
      {
        file: store,
        from: `if (admissions.length > 0) return { kind: 'duplicate', admissions: Object.freeze(admissions) };`,
        to: '',
      },
      {
        file: projection,
        from: `invariant(!tables.admissionByInput.has(inputKey), 'an append queues an input id once');`,
        to: '',
      },
    ],
  },
  {
    name: 'numbers-from-memory',
    within: 300,
    breaks: ['bug', 'P2', 'P9'],
    patches: [
      {
        file: 'core/use-cases/numbering.ts',
        from: `let { nextMessageId, nextAdmissionSeq } = first;`,
        to: `let { nextMessageId, nextAdmissionSeq } = { ...first, nextMessageId: 1, nextAdmissionSeq: 1 };`,
      },
    ],
  },
  {
    name: 'wake-up-lost-at-the-end-of-a-turn',
    within: 100,
    breaks: ['P6'],
    patches: [
      {
        file: 'core/use-cases/scheduler.ts',
        from: `    if (head === undefined) this.#waiting.delete(sessionId);`,
        to: `    if (head === undefined || this.#running.has(sessionId)) this.#waiting.delete(sessionId);`,
      },
    ],
  },
  {
    name: 'hole-in-a-subscription',
    within: 1000,
    seed: 2,
    breaks: ['P12'],
    patches: [
      {
        file: 'core/use-cases/subscribe.ts',
        from: `      newestSeq = Math.max(newestSeq, events.at(-1)?.seq ?? 0);
      if (mode`,
        to: `      if (mode`,
      },
      { file: 'core/use-cases/subscribe.ts', from: `if (!isNext(event)) {`, to: `if (event.seq < 0) {` },
    ],
  },
  {
    name: 'command-lost-between-two-looks-at-the-mailbox',
    within: 1500,
    seed: 4, // one history in several thousand meets the moment
    breaks: ['P6'],
    patches: [
      {
        file: actor,
        from: `    this.#working = this.#work();`,
        to: `    this.#working = this.#work().then(() => void (this.#pumping = false));`,
      },
      { file: actor, from: `    this.#pumping = false;\n  }`, to: `  }` },
    ],
  },
  {
    name: 'stale-admission-in-a-round',
    within: 500,
    breaks: ['bug', 'P2', 'P5'],
    patches: [
      { file: actor, from: `const command = withEnded(waiting.command, ended);`, to: `const { command } = waiting;` },
    ],
  },
  {
    name: 'snapshot-of-two-instants',
    within: 1500,
    breaks: ['P12'],
    patches: [
      {
        file: 'core/use-cases/read-snapshot.ts',
        from: `const state = commits.stateAt(page.lastSeq, first);`,
        to: `const state = first;`,
      },
    ],
  },
  {
    name: 'repeated-create-ahead-of-the-first',
    within: 3000,
    breaks: ['P8', 'P1'],
    patches: [{ file: actor, from: `if (this.#state === null && this.#pumping) await this.#working;`, to: '' }],
  },
  {
    name: 'partial-answer-kept-beside-the-stored-one',
    within: 1000,
    seed: 2,
    breaks: ['P12'],
    patches: [
      {
        file: 'core/use-cases/turn-runner.ts',
        from: `if (events.some((event) => event.type === 'message.appended' && event.message.kind === 'answer')) turn.stored();`,
        to: '',
      },
    ],
  },
  {
    name: 'receipt-of-another-generation',
    within: 100,
    breaks: ['P5'],
    patches: [
      {
        file: 'core/domain/admission/receipt.ts',
        from: `    admission,
    ahead`,
        to: `    admission: { ...admission, executionGeneration: state.executionGeneration },
    ahead`,
      },
    ],
  },
];
