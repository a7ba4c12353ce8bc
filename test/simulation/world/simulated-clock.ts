import type { Clock } from '../../../src/core/ports/clock.ts';
import type { Owner, Task, World } from './world.ts';

/**
 * Virtual time. It moves a little with every task, and to the end of the next sleep when that is picked; the wall
 * clock may be moved apart from it, in both directions.
 */
export class SimulatedClock {
  #sleepers: readonly Sleeper[] = [];
  #elapsedMs = 0;
  #wallOffsetMs = Date.parse('2030-01-01T00:00:00.000Z');

  constructor(world: World) {
    world.addSource(() => this.#nextWaking());
  }

  /** The clock as a process sees it: its sleeps end with it. */
  of(owner: Owner): Clock {
    return {
      now: () => this.wallAfter(0),
      monotonicMs: () => this.#elapsedMs,
      sleep: (ms, signal) => this.#sleep(owner, ms, signal),
    };
  }

  /** What the wall clock says in so many milliseconds if nobody moves it. */
  wallAfter(ms: number): string {
    return new Date(this.#wallOffsetMs + this.#elapsedMs + ms).toISOString();
  }

  /** Wakes when the time has come, as `sleep` does; for what is outside of every process, too. */
  after(owner: Owner, ms: number, wake: () => void): () => void {
    const sleeper: Sleeper = { owner, dueMs: this.#elapsedMs + ms, wake };
    this.#sleepers = [...this.#sleepers, sleeper].sort((a, b) => a.dueMs - b.dueMs);
    return () => {
      this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
    };
  }

  advance(ms: number): void {
    this.#elapsedMs += ms;
  }

  /** Moves the wall clock alone, as an operator or NTP would. */
  jump(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  bury(): void {
    this.#sleepers = this.#sleepers.filter(({ owner }) => owner.alive);
  }

  #nextWaking(): Task | null {
    const next = this.#sleepers.find(({ owner }) => owner.alive && !owner.frozen);
    if (next === undefined) return null;
    return { owner: next.owner, label: 'time goes by', run: () => this.#wakeNext(next) };
  }

  #wakeNext(sleeper: Sleeper): void {
    this.#elapsedMs = Math.max(this.#elapsedMs, sleeper.dueMs);
    this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
    sleeper.wake();
  }

  #sleep(owner: Owner, ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.after(owner, ms, () => end());
      const end = (): void => {
        cancel();
        signal?.removeEventListener('abort', end);
        resolve();
      };
      signal?.addEventListener('abort', end);
    });
  }
}

interface Sleeper {
  readonly owner: Owner;
  readonly dueMs: number;
  readonly wake: () => void;
}
