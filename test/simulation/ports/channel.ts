/** A stream that somebody fills while somebody else reads it. */
export class Channel<T> implements AsyncIterable<T> {
  readonly #values: T[] = [];
  #waiting: Waiting<T> | null = null;
  #end: { readonly error: Error | null } | null = null;

  push(value: T): void {
    if (this.#end !== null) return;
    this.#values.push(value);
    this.#serve();
  }

  end(error: Error | null = null): void {
    this.#end ??= { error };
    this.#serve();
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return {
      next: () =>
        new Promise((resolve, reject) => {
          this.#waiting = { resolve, reject };
          this.#serve();
        }),
    };
  }

  #serve(): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    const value = this.#values.shift();
    if (value !== undefined) {
      this.#waiting = null;
      waiting.resolve({ done: false, value });
    } else if (this.#end !== null) {
      this.#waiting = null;
      if (this.#end.error === null) waiting.resolve({ done: true, value: undefined });
      else waiting.reject(this.#end.error);
    }
  }
}

interface Waiting<T> {
  readonly resolve: (result: IteratorResult<T>) => void;
  readonly reject: (error: Error) => void;
}
