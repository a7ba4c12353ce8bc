import type { Clock } from '../ports/clock.ts';

/** The pauses of one session's work that the storage, full or busy, did not take. */
export class WorkRetries {
  readonly #clock: Clock;
  readonly #report: (health: 'ok' | 'retrying') => void;
  #pauses = 0;

  constructor(clock: Clock, report: (health: 'ok' | 'retrying') => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** Longer and longer, up to two seconds. */
  async pause(): Promise<void> {
    this.#pauses += 1;
    this.#report('retrying');
    await this.#clock.sleep(Math.min(50 * 2 ** this.#pauses, 2000));
  }

  /** The work has an end, be it an append or a refusal. */
  over(): void {
    if (this.#pauses > 0) this.#report('ok');
    this.#pauses = 0;
  }
}
