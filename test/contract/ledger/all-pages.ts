import { expect } from 'vitest';

/** Reads on to the end. Every page but the last must be full, and only the first may be empty. */
export async function allPages<Row, Cursor>(
  limit: number,
  read: (cursor: Cursor | null) => Promise<{ readonly rows: readonly Row[]; readonly next: Cursor | null }>,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (let cursor: Cursor | null = null; found.length < 100;) {
    const page = await read(cursor);
    found.push(...page.rows);
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    if (cursor !== null) expect(page.rows).not.toEqual([]);
    if (page.next === null) return found;
    expect(page.rows.length).toBe(limit);
    cursor = page.next;
  }
  throw new Error('The pages have no end');
}
