import type { Clock } from '../../../core/ports/clock.ts';
import type { ListedTool } from './listed-tools.ts';

/**
 * The list of one server's tools, fetched once for all who ask and again only after the server has said that it
 * changed. When a fetch fails or takes too long, the list before it stands, and the next one who asks tries again.
 */
export class ToolListing {
  readonly #fetch: (signal: AbortSignal) => Promise<readonly ListedTool[]>;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  #newest: readonly ListedTool[] = [];
  #current: Promise<readonly ListedTool[]> | null = null;

  constructor(
    fetch: (signal: AbortSignal) => Promise<readonly ListedTool[]>,
    { timeoutMs, clock }: { readonly timeoutMs: number; readonly clock: Clock },
  ) {
    this.#fetch = fetch;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  get count(): number {
    return this.#newest.length;
  }

  /** The first fetch, whose failure is the caller's affair. */
  async fill(signal: AbortSignal): Promise<void> {
    await this.#refresh(this.#fetch(signal));
  }

  /** A fetch that is under way may have missed the change: its result is nobody's cache. */
  markChanged(): void {
    this.#current = null;
  }

  async tools(): Promise<readonly ListedTool[]> {
    try {
      return await (this.#current ?? this.#refresh(this.#fetchInTime()));
    } catch {
      return this.#newest;
    }
  }

  async #refresh(fetching: Promise<readonly ListedTool[]>): Promise<readonly ListedTool[]> {
    this.#current = fetching;
    try {
      const tools = await fetching;
      if (this.#current === fetching || this.#current === null) this.#newest = tools;
      return tools;
    } catch (error) {
      if (this.#current === fetching) this.#current = null;
      throw error;
    }
  }

  async #fetchInTime(): Promise<readonly ListedTool[]> {
    const late = new AbortController();
    const waiting = new AbortController();
    void this.#clock.sleep(this.#timeoutMs, waiting.signal).then(() => late.abort());
    try {
      return await this.#fetch(late.signal);
    } finally {
      waiting.abort();
    }
  }
}
