import type { Clock } from '../../../core/ports/clock.ts';

/** The longest timer that Node takes; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * The clocks of this machine. A sleep doesn't keep the process alive: a gateway with nothing left but sleeps has
 * nothing to do. An aborted sleep leaves no timer behind.
 */
export class SystemClock implements Clock {
  now(): string {
    return new Date().toISOString();
  }

  monotonicMs(): number {
    return performance.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const untilMs = this.monotonicMs() + ms;
    for (let leftMs = ms; leftMs > 0 && signal?.aborted !== true; leftMs = untilMs - this.monotonicMs()) {
      await nap(Math.min(Math.ceil(leftMs), longestTimerMs), signal);
    }
  }
}

function nap(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms).unref();
    signal?.addEventListener('abort', wake);
  });
}
