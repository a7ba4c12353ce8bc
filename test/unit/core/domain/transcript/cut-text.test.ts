import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beginningOf, endOf } from '../../../../../src/core/domain/transcript/cut-text.ts';

describe('a cut', () => {
  test('is where it was asked for in a text of plain letters', () => {
    expect([beginningOf('abcdef', 2), endOf('abcdef', 2)]).toEqual(['ab', 'ef']);
  });

  test.each(['😀', '\u{10000}', '\u{10FFFF}'])('leaves out a character that it would cut in two: %s', (character) => {
    expect([beginningOf(`a${character}b`, 2), endOf(`a${character}b`, 2)]).toEqual(['a', 'b']);
  });

  test('cuts beside characters whose codes are next to those of halves', () => {
    expect(beginningOf('\uD7FF\uE000', 1)).toBe('\uD7FF');
    expect(endOf('\uD7FF\uE000', 1)).toBe('\uE000');
  });

  test('keeps a character that fits', () => {
    expect([beginningOf('a😀b', 3), endOf('a😀b', 3)]).toEqual(['a😀', '😀b']);
  });

  test('of nothing is nothing', () => {
    expect([beginningOf('abc', 0), endOf('abc', 0)]).toEqual(['', '']);
  });

  test('of more than there is is everything', () => {
    expect([beginningOf('a😀', 9), endOf('a😀', 9)]).toEqual(['a😀', 'a😀']);
  });

  test('is never longer than asked for, and at most one unit shorter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(30), (text, length) => {
        for (const part of [beginningOf(text, length), endOf(text, length)]) {
          expect(part.length).toBeLessThanOrEqual(length);
          expect(part.length).toBeGreaterThanOrEqual(Math.min(length, text.length) - 1);
        }
        expect(text.startsWith(beginningOf(text, length))).toBe(true);
        expect(text.endsWith(endOf(text, length))).toBe(true);
      }),
    );
  });
});
