/**
 * A deep copy of plain data that nobody can change. What the store keeps and hands out is made by this function, so
 * that a caller who holds a row, or who goes on using what it has appended, can't reach into the store.
 *
 * Data that is frozen already is taken to be frozen all the way down, as it is when this function made it.
 */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => frozenCopy(item))) as T; // map keeps the shape
  const copy = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, frozenCopy<unknown>(item)]));
  return Object.freeze(copy) as T; // the same keys with the same values
}
