/** The methods of a port, answered at once: what it takes to fulfil the port from one thread. */
export type Synchronous<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never;
};
