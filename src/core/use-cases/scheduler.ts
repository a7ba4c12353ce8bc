/*
 * Decides which session's turn starts next. Its border: it knows which queues could run and how many turns run; what
 * a turn does is the runner's affair.
 *
 * D1: one turn of a session at a time (the claim enforces it again).
 * D2: at most `maxConcurrentTurns` over all sessions.
 * D3: the oldest waiting admission first.
 * D4: whether a session waits is derived from its committed state at each commit, also while its turn runs, so that no
 *     wake-up can be lost (P6).
 */
import { canClaim, queueHead } from '../domain/session/state.ts';
import type { SessionState } from '../domain/session/state.ts';

export interface SchedulerDependencies {
  readonly maxConcurrentTurns: number;
  /** Runs the head of the session's queue to its end. It rejects only for a bug. */
  readonly runTurn: (sessionId: string) => Promise<void>;
  readonly onBug: (error: unknown) => void;
}

export class Scheduler {
  readonly #deps: SchedulerDependencies;
  /** Sessions whose head could start, with its sequence number. */
  readonly #waiting = new Map<string, number>();
  readonly #running = new Map<string, Promise<void>>();
  #stopped = true;

  constructor(deps: SchedulerDependencies) {
    this.#deps = deps;
  }

  get waitingSessions(): number {
    return this.#waiting.size;
  }

  get runningSessions(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** From now on turns are started. */
  start(): void {
    this.#stopped = false;
    this.#fill();
  }

  /** From now on no turn is started; those that run go on. */
  stop(): void {
    this.#stopped = true;
  }

  /** Resolves when no turn runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Takes note of a session's newest committed state. */
  consider(sessionId: string, state: SessionState): void {
    const head = canClaim(state) ? queueHead(state) : undefined;
    if (head === undefined) this.#waiting.delete(sessionId);
    else this.#waiting.set(sessionId, head.seq);
    this.#fill();
  }

  #fill(): void {
    while (!this.#stopped && this.#running.size < this.#deps.maxConcurrentTurns) {
      const next = this.#oldestWaiting();
      if (next === undefined) return;
      this.#run(next);
    }
  }

  #oldestWaiting(): string | undefined {
    let oldest: string | undefined;
    let oldestSeq = Infinity;
    for (const [sessionId, seq] of this.#waiting) {
      if (seq >= oldestSeq || this.#running.has(sessionId)) continue;
      oldest = sessionId;
      oldestSeq = seq;
    }
    return oldest;
  }

  #run(sessionId: string): void {
    this.#waiting.delete(sessionId);
    const turn = this.#deps.runTurn(sessionId).then(
      () => {
        this.#running.delete(sessionId);
        this.#fill();
      },
      (error: unknown) => {
        this.#running.delete(sessionId);
        this.#deps.onBug(error);
      },
    );
    this.#running.set(sessionId, turn);
  }
}
