import type { Clock } from '../../../core/ports/clock.ts';

/**
 * A clock that stands still until somebody moves it. The wall clock can be set to anything, backwards too; the
 * monotonic clock, by which sleeps are measured, only moves with `advance` and `wakeNext`.
 */
export class FakeClock implements Clock {
  /** In due order; sleepers that are due at the same instant in the order in which they fell asleep. */
  #sleepers: readonly Sleeper[] = [];
  #wallMs: number;
  #elapsedMs = 0;

  constructor(now = '2030-01-01T00:00:00.000Z') {
    this.#wallMs = parse(now);
  }

  now(): string {
    return new Date(this.#wallMs).toISOString();
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper: Sleeper = {
        dueMs: this.#elapsedMs + ms,
        wake: () => {
          signal?.removeEventListener('abort', sleeper.wake);
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
          resolve();
        },
      };
      signal?.addEventListener('abort', sleeper.wake);
      this.#sleepers = [...this.#sleepers, sleeper].sort((a, b) => a.dueMs - b.dueMs);
    });
  }

  /** Sets the wall clock, as an operator or NTP would. No sleep notices. */
  set(now: string): void {
    this.#wallMs = parse(now);
  }

  /**
   * Lets `ms` go by. Every sleep that ends in this time ends in its order, at its own instant, and what it wakes runs
   * until it waits for something before the next one ends; a sleep that begins meanwhile counts as well.
   */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await settled();
    for (let next = this.#sleepers[0]; next !== undefined && next.dueMs <= untilMs; next = this.#sleepers[0]) {
      this.wakeNext();
      await settled();
    }
    this.#moveTo(untilMs);
  }

  /** Moves to the end of the next sleep and ends it, without waiting for what it wakes. False when nobody sleeps. */
  wakeNext(): boolean {
    const next = this.#sleepers[0];
    if (next === undefined) return false;
    this.#moveTo(next.dueMs);
    next.wake();
    return true;
  }

  /** How many sleeps have not ended. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  #moveTo(elapsedMs: number): void {
    this.#wallMs += elapsedMs - this.#elapsedMs;
    this.#elapsedMs = elapsedMs;
  }
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** Resolves when everything that can run without an input or a timer has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function parse(instant: string): number {
  const ms = Date.parse(instant);
  if (Number.isNaN(ms)) throw new RangeError(`Not an instant: ${instant}`);
  return ms;
}
