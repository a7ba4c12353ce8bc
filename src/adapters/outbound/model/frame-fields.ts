import { isRecord } from './error-facts.ts';

/* Fields of a parsed frame, whatever the frame is: what isn't there, or is of another kind, is null. */

type Fields = Readonly<Record<string, unknown>>;

export function recordIn(value: unknown, field: string): Fields | null {
  const found = isRecord(value) ? value[field] : undefined;
  return isRecord(found) ? found : null;
}

export function textIn(value: unknown, field: string): string | null {
  const found = isRecord(value) ? value[field] : undefined;
  return typeof found === 'string' && found !== '' ? found : null;
}

export function countIn(value: unknown, field: string): number | null {
  const found = isRecord(value) ? value[field] : undefined;
  return typeof found === 'number' && Number.isInteger(found) && found >= 0 ? found : null;
}

export function listIn(value: unknown, field: string): readonly unknown[] {
  const found: unknown = isRecord(value) ? value[field] : undefined;
  return Array.isArray(found) ? found : [];
}

/** The sum of the counts that are there; null when none is. */
export function sumOf(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
}
