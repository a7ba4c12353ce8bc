import { queueHead, canClaim } from '../domain/session/state.ts';
import type { SessionState } from '../domain/session/state.ts';
import { utf8Length } from '../domain/transcript/tokens.ts';
import type { EventHub } from '../ports/event-hub.ts';
import type { RunningTurn } from './gateway-status.ts';
import { isCutShort, patiently } from './patient-reads.ts';
import type { Partial } from './resume-session.ts';
import type { CommitListener } from './sessions.ts';
import { runTurn } from './turn.ts';
import type { TurnDependencies } from './turn-dependencies.ts';

export interface TurnRunnerDependencies extends TurnDependencies {
  readonly hub: EventHub;
  readonly epoch: () => number;
}

/**
 * The turns that run in this process: starts them, tells them to stop, and knows what each has said so far.
 *
 * A durable stop request aborts the turn's model request at once; the turn then settles itself.
 */
export class TurnRunner {
  readonly #deps: TurnRunnerDependencies;
  readonly #active = new Map<string, ActiveTurn>();
  /** Aborts when no turn is to begin any more. */
  readonly #stopped = new AbortController();

  constructor(deps: TurnRunnerDependencies) {
    this.#deps = deps;
  }

  /** Runs the head of the session's queue, if it may run, to its end. */
  async run(sessionId: string): Promise<void> {
    const state = await this.#stateOf(sessionId);
    const head = state === null ? undefined : queueHead(state);
    if (state === null || head === undefined || !canClaim(state)) return;
    const active = new ActiveTurn(this.#deps, sessionId, head.admissionId);
    this.#active.set(sessionId, active);
    try {
      await runTurn(this.#deps, state, head, active.signal, active);
    } finally {
      this.#active.delete(sessionId);
    }
  }

  /** Null also when the storage is busy and no turn is to begin any more. */
  async #stateOf(sessionId: string): Promise<SessionState | null> {
    const { clock, sessions } = this.#deps;
    const { signal } = this.#stopped;
    try {
      return await patiently(clock, signal, () => sessions.state(sessionId));
    } catch (error) {
      if (isCutShort(error, signal)) return null;
      throw error;
    }
  }

  /** Listens to commits: a stop request aborts the turn, and what is stored is no partial answer any more. */
  readonly observe: CommitListener = (sessionId, _state, events) => {
    const turn = this.#active.get(sessionId);
    if (turn === undefined) return;
    if (events.some(({ type }) => type === 'turn.stop_requested')) turn.abort();
    if (events.some((event) => event.type === 'message.appended' && event.message.kind === 'answer')) turn.stored();
  };

  /** Aborts every request without asking anybody: for an owner that may write no more. */
  abortAll(): void {
    this.#stopped.abort();
    for (const turn of this.#active.values()) turn.abort();
  }

  /** Asks every running turn to stop, durably, as a client would. One that isn't claimed yet stops looking around. */
  async interruptAll(by: string): Promise<void> {
    this.#stopped.abort();
    for (const turn of this.#active.values()) turn.stopLooking();
    const interrupts = [...this.#active.values()].flatMap(({ sessionId, executionGeneration }) =>
      executionGeneration === null
        ? []
        : [this.#deps.sessions.send(sessionId, { kind: 'interrupt', executionGeneration, by })],
    );
    await Promise.all(interrupts);
  }

  partialOf(sessionId: string): Partial | null {
    return this.#active.get(sessionId)?.partial ?? null;
  }

  running(): readonly RunningTurn[] {
    return [...this.#active.values()].map((turn) => turn.report);
  }
}

/** What is known of a running turn in memory only. */
class ActiveTurn {
  readonly sessionId: string;
  readonly #deps: TurnRunnerDependencies;
  readonly #admissionId: string;
  readonly #controller = new AbortController();
  readonly #looking = new AbortController();
  readonly #startedAt: string;
  #generation: number | null = null;
  #activity: RunningTurn['activity'] = 'starting';
  #step = 0;
  #chunks: string[] = [];
  #offset = 0;
  #reasoningOffset = 0;

  constructor(deps: TurnRunnerDependencies, sessionId: string, admissionId: string) {
    this.#deps = deps;
    this.sessionId = sessionId;
    this.#admissionId = admissionId;
    this.#startedAt = deps.clock.now();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get executionGeneration(): number | null {
    return this.#generation;
  }

  get partial(): Partial | null {
    if (this.#generation === null || this.#offset === 0) return null;
    return {
      executionGeneration: this.#generation,
      step: this.#step,
      offset: this.#offset,
      text: this.#chunks.join(''),
    };
  }

  get report(): RunningTurn {
    return {
      sessionId: this.sessionId,
      admissionId: this.#admissionId,
      executionGeneration: this.#generation ?? 0,
      step: this.#step,
      startedAt: this.#startedAt,
      activity: this.#activity,
    };
  }

  /** What was said so far is in the transcript now. */
  stored(): void {
    this.#chunks = [];
    this.#offset = 0;
    this.#reasoningOffset = 0;
  }

  get lookup(): AbortSignal {
    return this.#looking.signal;
  }

  get stopped(): AbortSignal {
    return this.#generation === null ? this.lookup : this.signal;
  }

  abort(): void {
    this.#controller.abort();
    this.#looking.abort();
  }

  stopLooking(): void {
    this.#looking.abort();
  }

  claimed(executionGeneration: number): void {
    this.#generation = executionGeneration;
  }

  activity(activity: RunningTurn['activity'], step: number): void {
    this.#activity = activity;
    this.#step = step;
  }

  /** A fresh step, or the same one tried again: what was said before is not part of it. */
  listener(step: number): { text: (chunk: string) => void; reasoning: (chunk: string) => void } {
    this.#step = step;
    this.stored();
    return {
      text: (chunk) => {
        this.#chunks.push(chunk);
        this.#publish('message.delta', this.#offset, chunk);
        this.#offset += utf8Length(chunk);
      },
      reasoning: (chunk) => {
        this.#publish('reasoning.delta', this.#reasoningOffset, chunk);
        this.#reasoningOffset += utf8Length(chunk);
      },
    };
  }

  #publish(type: 'message.delta' | 'reasoning.delta', offset: number, text: string): void {
    const { hub, clock, epoch } = this.#deps;
    if (this.#generation === null || !hub.hasListeners(this.sessionId)) return;
    hub.publishLive({
      type,
      sessionId: this.sessionId,
      at: clock.now(),
      epoch: epoch(),
      admissionId: this.#admissionId,
      executionGeneration: this.#generation,
      step: this.#step,
      offset,
      text,
    });
  }
}
