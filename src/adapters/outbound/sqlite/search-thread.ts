import type { SearchPage } from '../../../core/ports/session-queries.ts';
import { StorageError } from '../../../core/ports/ledger.ts';
import type { SearchQuery } from './search-index.ts';
import type { SearchApi } from './search-worker.ts';
import { startSearchThread } from './storage-threads.ts';
import type { WorkerChannel } from './worker-channel.ts';

/** How long the store rests before its newest messages are indexed. */
const restMs = 500;
/** How long one call to the thread may take, so that a search comes in between. */
const sliceMs = 200;
/** How long a search waits for what is new. */
const searchCatchUpMs = 1_500;

/**
 * The search index of a store that is in use. Its thread is started when there is something to do and started again when
 * it died; whatever becomes of it, no append and no other read hears of it.
 */
export class SearchThread {
  readonly #home: string;
  readonly #onStoreFailure: (error: StorageError) => void;
  readonly #onIndexFailure: (error: unknown) => void;
  #hasFailed = false;
  #thread: WorkerChannel<SearchApi> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  /**
   * `onStoreFailure` hears when the store itself, and not the index, can't be read; `onIndexFailure` hears the first time
   * that the index can't be used.
   */
  constructor(
    home: string,
    onStoreFailure: (error: StorageError) => void,
    onIndexFailure: (error: unknown) => void = () => undefined,
  ) {
    this.#home = home;
    this.#onStoreFailure = onStoreFailure;
    this.#onIndexFailure = onIndexFailure;
  }

  /** Something was stored, or the store was opened: the index follows when it has a moment. */
  nudge(): void {
    if (this.#timer !== null || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#follow();
    }, restMs).unref();
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    const page = await this.#call((thread) => thread.call('search', this.#home, query, searchCatchUpMs));
    return page ?? { hits: [], next: null, behind: true };
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const thread = this.#thread;
    this.#thread = null;
    if (thread === null) return;
    await thread.call('close').catch(() => undefined);
    await thread.terminate();
  }

  async #follow(): Promise<void> {
    const isDone = await this.#call((thread) => thread.call('follow', this.#home, sliceMs));
    if (isDone === false) this.nudge();
  }

  #isClosed(): boolean {
    return this.#closed;
  }

  /** Null: the index is of no use at the moment. */
  async #call<T>(ask: (thread: WorkerChannel<SearchApi>) => Promise<T>): Promise<T | null> {
    if (this.#closed) return null;
    const thread = (this.#thread ??= startSearchThread());
    try {
      return await ask(thread);
    } catch (error) {
      if (error instanceof StorageError && error.kind === 'corrupt') this.#onStoreFailure(error);
      if (!this.#hasFailed && !this.#isClosed()) this.#onIndexFailure(error);
      this.#hasFailed = true;
      if (this.#thread === thread) this.#thread = null;
      void thread.terminate();
      return null;
    }
  }
}
