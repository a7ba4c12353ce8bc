import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { roughTokens, sumTokens, utf8Length } from '../../../../../src/core/domain/transcript/tokens.ts';
import { aMessage } from '../../../../support/builders.ts';

describe('the length in UTF-8 bytes', () => {
  test.each([
    ['', 0],
    ['a', 1],
    ['ä', 2],
    ['€', 3],
    ['😀', 4],
    ['a😀ä', 7],
    ['\ud800', 3],
    ['\udc00a', 4],
    ['\ud800\ud800', 6],
  ])('of %j is %i', (text, bytes) => {
    expect(utf8Length(text)).toBe(bytes);
  });

  test('is what an encoder says, for every text', () => {
    const units = fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(fc.oneof(units, fc.string({ unit: 'binary' })), (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });
});

test('a rough count is a quarter of the bytes, rounded up', () => {
  expect(['', 'a', 'aaaa', 'aaaaa', '😀😀'].map(roughTokens)).toEqual([0, 1, 1, 2, 2]);
});

test('messages cost the sum of their tokens', () => {
  expect(sumTokens([aMessage({ tokens: 5 }), aMessage({ tokens: 7 })])).toBe(12);
});
