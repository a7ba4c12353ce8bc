import type { IdSource } from '../../../core/ports/id-source.ts';

/**
 * Ids that say who made them and when in a run: `prefix-1`, `prefix-2`. Two sources need two prefixes. With `width`
 * the number is padded with zeros, so that the ids also sort in the order in which they were made.
 */
export class CountingIds implements IdSource {
  readonly #prefix: string;
  readonly #width: number;
  #last = 0;

  constructor(prefix: string, { width = 1 }: { readonly width?: number } = {}) {
    this.#prefix = prefix;
    this.#width = width;
  }

  next(): string {
    this.#last += 1;
    return `${this.#prefix}-${String(this.#last).padStart(this.#width, '0')}`;
  }
}
