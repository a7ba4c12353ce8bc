/**
 * Keeps calls in the order in which they entered up to the moment when they start. How long a call then takes holds up
 * nobody, and one that fails before it starts lets the next one pass.
 */
export class Lane {
  #tail: Promise<unknown> = Promise.resolve();

  /** Calls `start` with what `ready` brings, after every earlier `start`. What `start` does before its first pause keeps the order. */
  enter<T, R>(ready: Promise<T>, start: (value: T) => Promise<R>): Promise<R> {
    // Its failure is heard when its turn comes, which may be long after it happened.
    ready.catch(() => undefined);
    const started = this.#tail.then(() => ready).then((value) => ({ end: start(value) }));
    this.#tail = started.catch(() => undefined);
    return started.then(({ end }) => end);
  }
}
