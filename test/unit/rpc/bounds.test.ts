import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { staysWithin } from '../../../src/adapters/inbound/rpc/json-bounds.ts';
import { cutText, TextBudget } from '../../../src/adapters/inbound/rpc/shown-text.ts';
import { TokenBucket } from '../../../src/adapters/inbound/rpc/token-bucket.ts';

describe('the bounds of a JSON text', () => {
  test('are judged as a walk through the parsed value would', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 0, max: 8 }), (value, maxDepth) => {
        const text = JSON.stringify(value);

        expect(staysWithin(text, { maxDepth, maxValues: 1e9 })).toBe(depthOf(JSON.parse(text)) <= maxDepth);
      }),
    );
  });

  test.each([
    ['brackets in a string', JSON.stringify('[[[[{{{{')],
    ['an escaped quote before brackets', JSON.stringify('"[[[["')],
    ['a backslash at the end of a string', JSON.stringify({ 'a\\': '\\\\' })],
  ])('%s count for nothing', (_, text) => {
    expect(staysWithin(text, { maxDepth: 1, maxValues: 10 })).toBe(true);
  });

  test('count values', () => {
    expect(staysWithin('[1,2,3]', { maxDepth: 5, maxValues: 3 })).toBe(true);
    expect(staysWithin('[1,2,3,4]', { maxDepth: 5, maxValues: 3 })).toBe(false);
  });

  test.each(['"never closed', '"ends with \\', ']]]]', ''])('%j, which is no JSON, ends the scan', (text) => {
    expect(typeof staysWithin(text, { maxDepth: 5, maxValues: 5 })).toBe('boolean');
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('a text that is shown', () => {
  test('is whole, or the longest beginning that fits and ends between two characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0, max: 40 }), (text, maxBytes) => {
        const shown = cutText(text, maxBytes);

        expect(text.startsWith(shown.text)).toBe(true);
        expect(Buffer.byteLength(shown.text)).toBeLessThanOrEqual(maxBytes);
        expect(shown.truncated === true).toBe(Buffer.byteLength(text) > maxBytes);
        if (shown.truncated) {
          const next = String.fromCodePoint(text.codePointAt(shown.text.length) ?? 0);
          expect(Buffer.byteLength(shown.text + next)).toBeGreaterThan(maxBytes);
        }
      }),
    );
  });

  test('shares a budget with the others', () => {
    const budget = new TextBudget(4, 6);

    expect([budget.take('abcdef'), budget.take('gh'), budget.take('i')]).toEqual([
      { text: 'abcd', truncated: true },
      { text: 'gh' },
      { text: '', truncated: true },
    ]);
  });
});

describe('the rate of calls', () => {
  test('allows a burst, then so many in a second, and never more than a burst after a pause', () => {
    let nowMs = 0;
    const bucket = new TokenBucket({ perSecond: 10, burst: 2, nowMs: () => nowMs });
    const takeAt = (ms: number): number => {
      nowMs = ms;
      return bucket.take();
    };

    expect([0, 0, 0, 50, 100, 60_000, 60_000, 60_000].map(takeAt)).toEqual([0, 0, 100, 50, 0, 0, 0, 100]);
  });
});
