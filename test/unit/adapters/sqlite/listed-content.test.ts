import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textIn } from '../../../../src/adapters/outbound/sqlite/listed-content.ts';

const anyText = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '\n', '\u0000', 'é', '漢', '😀', '\ud800', '\udc00'),
});

describe('the text in the beginning of a payload', () => {
  test('is the beginning of the text, wherever the JSON was cut', () => {
    fc.assert(
      fc.property(anyText, fc.nat(400), (text, length) => {
        const cut = Array.from(JSON.stringify({ text, parts: null }))
          .slice(0, 9 + length)
          .join('');

        const found = textIn(cut);

        expect(found !== null && text.startsWith(found)).toBe(true);
      }),
    );
  });

  test('is the whole text where the JSON is whole', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(textIn(JSON.stringify({ text, parts: null }))).toBe(text);
      }),
    );
  });

  test('has a character for every six of what was read', () => {
    const json = JSON.stringify({ text: '\u0001'.repeat(100), parts: null });

    expect(textIn(json.slice(0, 9 + 6 * 50))).toHaveLength(50);
    expect(textIn(json.slice(0, 9 + 6 * 50 + 5))).toHaveLength(50);
  });

  test('is not looked for in JSON that begins in another way', () => {
    expect(textIn('{"parts":null,"text":"a"}')).toBeNull();
  });
});
