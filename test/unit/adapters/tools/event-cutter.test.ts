import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventCutter } from '../../../../src/adapters/outbound/tools/event-cutter.ts';

function cut(chunks: readonly string[], maxBytes = 1_000) {
  const cutter = new EventCutter(maxBytes);
  return chunks.map((chunk) => {
    const { complete, overflowed } = cutter.push(Buffer.from(chunk));
    return [Buffer.from(complete).toString(), overflowed];
  });
}

describe('a stream of events', () => {
  test('passes as it came, event by event', () => {
    expect(cut(['data: a\n', '\ndata: b', '\r\n\r', '\n', ': comment\n\n'])).toEqual([
      ['', false],
      ['data: a\n\n', false],
      ['', false],
      ['data: b\r\n\r\n', false],
      [': comment\n\n', false],
    ]);
  });

  test('loses an event that is too large, is told of it once, and keeps the others', () => {
    expect(cut(['data: a\n\ndata: 12345', '67890', '1', '\n\ndata: b\n\n'], 12)).toEqual([
      ['data: a\n\n', false],
      ['', true],
      ['', false],
      ['data: b\n\n', false],
    ]);
  });

  test('is complete when nothing is too large, wherever it was cut on its way', () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', '\n', '\r\n') }));
    fc.assert(
      fc.property(pieces, (chunks) => {
        const passed = cut([...chunks, '\n\n']).map(([text]) => text);
        expect(passed.join('')).toBe([...chunks, '\n\n'].join(''));
      }),
    );
  });
});
