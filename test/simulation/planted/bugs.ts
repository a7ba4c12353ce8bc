import type { Rule } from '../judge/verdict.ts';
import type { Patch } from './plant.ts';

export interface PlantedBug {
  readonly name: string;
  /** The histories within which it must be found. */
  readonly within: number;
  /** Of the campaign that must find it, chosen so that the check takes little time; 1 where nothing is said. */
  readonly seed?: number;
  /** What it may break; a failure of another kind doesn't count as finding it. */
  readonly breaks: readonly Rule[];
  readonly patches: readonly Patch[];
}

const actor = 'core/use-cases/session-actor.ts';
const store = 'adapters/outbound/memory/memory-store.ts';
const projection = 'adapters/outbound/memory/project-event.ts';

/** Faults that a programmer could make. A simulator that misses one of them has gone blind. */
export const plantedBugs: readonly PlantedBug[] = [
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
    name: 'duplicates-unchecked',
    within: 200,
    breaks: ['P2'],
    patches: [
      {
        file: store,
        from: `return admissions.length > 0 ? { kind: 'duplicate', admissions: Object.freeze(admissions) } : null;`,
        to: 'return null;',
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
    name: 'stop-forgotten-by-recovery',
    within: 1000,
    seed: 10,
    breaks: ['P5'],
    patches: [
      { file: 'core/domain/turn/recover.ts', from: `if (turn.stopRequested !== null) return 'stopped';`, to: '' },
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
    name: 'command-lost-between-two-looks-at-the-mailbox',
    within: 1500,
    seed: 2, // one history in several thousand meets the moment
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
    name: 'snapshot-of-two-instants',
    within: 1500,
    breaks: ['P12'],
    patches: [
      {
        file: 'core/use-cases/read-snapshot.ts',
        from: `const now = await deps.queries.findSession(sessionId);`,
        to: `const now = { lastSeq: (await deps.sessions.state(sessionId))?.seq };`,
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
    name: 'tool-started-before-its-intent',
    within: 500,
    breaks: ['P4'],
    patches: [
      {
        file: 'core/use-cases/tool-step.ts',
        from: `  const appended = await deps.sessions.send(sessionId, {
    kind: 'append',`,
        to: `  const appended: Sent<null> = { kind: 'done', reply: null };
  void deps.sessions.send(sessionId, {
    kind: 'append',`,
      },
    ],
  },
  {
    name: 'broken-call-made-again',
    within: 500,
    breaks: ['P4'],
    patches: [
      {
        file: 'core/use-cases/tool-step.ts',
        from: `await deps.tools.call(request, signal).catch(brokenHost);`,
        to: `await deps.tools.call(request, signal).catch(() => deps.tools.call(request, signal)).catch(brokenHost);`,
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
    name: 'call-made-before-its-approval',
    within: 300,
    breaks: ['P4'],
    patches: [
      {
        file: 'core/use-cases/tool-step.ts',
        from: `(await each.decision) === 'approved'`,
        to: `(await Promise.resolve('approved')) === 'approved'`,
      },
    ],
  },
  {
    name: 'approval-without-the-intent',
    within: 300,
    seed: 5,
    breaks: ['P4', 'bug'],
    patches: [
      {
        file: 'core/domain/approval/resolve-approval.ts',
        from: `? [admissionEvent(turn, { type: 'tool.started', callId, name })]`,
        to: `? []`,
      },
    ],
  },
  {
    name: 'second-answer-acknowledged',
    within: 500,
    breaks: ['P1'],
    patches: [
      {
        file: 'core/use-cases/respond-approval.ts',
        from: `if (resolution.by === by && resolution.decision === decision) {`,
        to: `if (resolution.by !== 'gateway') {`,
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
    name: 'steer-forgotten-by-recovery',
    within: 1000,
    seed: 2,
    breaks: ['P5'],
    patches: [{ file: 'core/domain/turn/recover.ts', from: `events.push(...endedSteers(state));`, to: '' }],
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
    name: 'approval-outlives-its-stop',
    within: 500,
    breaks: ['P4', 'P5', 'bug'],
    patches: [
      {
        file: 'core/domain/turn/interrupt.ts',
        from: `    ...closedApprovals(state, turn, { reason: 'stop_requested', by }, context),`,
        to: '',
      },
      {
        file: 'core/domain/turn/settle.ts',
        from: `return accepted([...messages, ...approvals, ...steers, settled, ...held], () => ({ outcome }));`,
        to: `return accepted([...messages, ...steers, settled, ...held], () => ({ outcome }));`,
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
  {
    name: 'history-forgets-what-left-the-transcript',
    within: 1500,
    breaks: ['history'],
    patches: [
      {
        file: 'adapters/outbound/memory/memory-queries.ts',
        from: `if (row === null) return null;`,
        to: `if (row?.active !== true) return null;`,
      },
    ],
  },
];
