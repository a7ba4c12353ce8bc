import type { Logger } from '../ports/logger.ts';
import type { StorageHealth } from './gateway-status.ts';

/** How the storage takes the work of all sessions. After a failure it never recovers: the process must end. */
export class StorageWatch {
  readonly #logger: Pick<Logger, 'warn'>;
  /** The sessions with work that is tried again. */
  readonly #retrying = new Set<string>();
  #failed = false;

  constructor(logger: Pick<Logger, 'warn'>) {
    this.#logger = logger;
  }

  get now(): StorageHealth {
    if (this.#failed) return 'failed';
    return this.#retrying.size > 0 ? 'retrying' : 'ok';
  }

  /** Takes note of one session's work. */
  readonly heard = (sessionId: string, health: 'ok' | 'retrying'): void => {
    const before = this.now;
    if (health === 'retrying') this.#retrying.add(sessionId);
    else this.#retrying.delete(sessionId);
    if (this.now === before) return;
    this.#logger.warn(this.now === 'ok' ? 'the storage works again' : 'the storage is full or busy: trying again');
  };

  fail(): void {
    this.#failed = true;
  }
}
