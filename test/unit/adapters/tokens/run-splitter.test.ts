import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitRuns } from '../../../../src/adapters/outbound/tokens/run-splitter.ts';

describe('splitting long runs', () => {
  it('leaves ordinary text whole', () => {
    const text = 'const answer = await model.stream(request);\n'.repeat(100);

    expect(splitRuns(text)).toEqual([text]);
  });

  it('cuts a run every 256 characters and keeps what stands around it', () => {
    expect(splitRuns(`before ${'a'.repeat(600)} after`).map(({ length }) => length)).toEqual([7 + 256, 256, 88 + 6]);
  });

  it('loses nothing, leaves no run over 257 units, and never cuts a character in two', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('a'.repeat(300), ' '.repeat(700), '🎉'.repeat(200), '世'.repeat(500), '\n'.repeat(300)),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const parts = splitRuns(text);
        expect(parts.join('')).toBe(text);
        for (const part of parts) expect(part).not.toMatch(/\S{513,}|\s{513,}/);
        for (const part of parts.slice(1)) expect(text.includes('🎉') && /^[\uDC00-\uDFFF]/.test(part)).toBe(false);
      }),
    );
  });
});
