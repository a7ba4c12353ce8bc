import { StorageError } from '../../../core/ports/ledger.ts';

/**
 * Remembers the first failure after which the storage can't be trusted, wherever it was met: by an append, by a read of
 * either port, or by a check. From then on nothing is written, and the process must end.
 */
export class FailStop {
  readonly #listeners: ((error: StorageError) => void)[] = [];
  #over = false;
  #retired = false;

  /** Is called at most once. */
  onFailure(listener: (error: StorageError) => void): void {
    this.#listeners.push(listener);
  }

  /** Looks at how a call ends. */
  async watch<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (error instanceof StorageError && error.outcomeUnknown) this.trip(error);
      throw error;
    }
  }

  trip(error: StorageError): void {
    if (this.#over || (this.#retired && error.kind !== 'corrupt')) return;
    this.#over = true;
    for (const listener of this.#listeners) listener(error);
  }

  /** The store is being closed: that calls come too late says nothing about it, but damage still does. */
  retire(): void {
    this.#retired = true;
  }
}
