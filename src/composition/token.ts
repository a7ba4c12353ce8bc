/**
 * A key in the container that carries the type of what is bound to it: a missing or swapped dependency doesn't
 * compile. It is an abstract class for inversify's sake and is never extended.
 */
export type Token<T> = abstract new () => T;

export function token<T>(name: string): Token<T> {
  const key = class {};
  Object.defineProperty(key, 'name', { value: name });
  return key as unknown as Token<T>; // only its identity and its type are used
}
