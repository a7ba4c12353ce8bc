/** Structured values are JSON text in their column, and NULL where there is nothing. */
export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export function fromJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T); // written by `toJson` from a value of this type
}

export function fromJsonList<T>(text: string | null): readonly T[] {
  return fromJson<readonly T[]>(text) ?? [];
}

/** An empty list is NULL too. */
export function toJsonList(list: readonly unknown[]): string | null {
  return list.length === 0 ? null : JSON.stringify(list);
}
