import type { Clock } from '../../../core/ports/clock.ts';
import type { Logger } from '../../../core/ports/logger.ts';

const longestText = 1_000;
const linesPerWindow = 100;
const windowMs = 10_000;

/**
 * Writes what a server says about itself to the debug log: secrets masked, lines cut, and not more of them than
 * somebody could read.
 */
export class ServerLog {
  readonly #server: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #mask: (text: string) => string;
  #windowStartedMs = -Infinity;
  #lines = 0;

  constructor(server: string, logger: Logger, clock: Clock, mask: (text: string) => string) {
    this.#server = server;
    this.#logger = logger;
    this.#clock = clock;
    this.#mask = mask;
  }

  /** A line of its stderr. */
  stderr(line: string): void {
    this.#write('tool server wrote to stderr', line);
  }

  /** Something odd that harms nobody, such as text on stdout that is no message. */
  oddity(text: string): void {
    this.#write('tool server did something unexpected', text);
  }

  #write(message: string, text: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#windowStartedMs >= windowMs) {
      const left = this.#lines - linesPerWindow;
      if (left > 0) this.#logger.debug('tool server said more than is logged', { server: this.#server, lines: left });
      this.#windowStartedMs = nowMs;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines > linesPerWindow) return;
    // Masked before the final cut, so that no half of a secret stays; cut before that, since it may be a whole answer.
    const masked = this.#mask(text.slice(0, 10 * longestText)).slice(0, longestText);
    this.#logger.debug(message, { server: this.#server, text: masked });
  }
}
