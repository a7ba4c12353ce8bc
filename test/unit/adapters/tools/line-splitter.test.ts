import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineSplitter, type OverlongLine } from '../../../../src/adapters/outbound/tools/line-splitter.ts';

function split(chunks: readonly (string | Buffer)[], maxLineBytes = 1_000) {
  const lines: string[] = [];
  const overlong: OverlongLine[] = [];
  const splitter = new LineSplitter(maxLineBytes, {
    onLine: (line) => lines.push(line),
    onOverlongLine: (line) => overlong.push(line),
  });
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  return { lines, overlong };
}

describe('a stream of lines', () => {
  test('comes out line by line, wherever it was cut on its way', () => {
    const bytes = fc.string({ unit: fc.constantFrom('a', 'ö', '😀', '\n') }).map((text) => Buffer.from(`${text}\n`));
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(40)), (whole, cuts) => {
        const borders = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
        const chunks = borders.slice(1).map((end, index) => whole.subarray(borders[index], end));

        expect(split(chunks).lines).toEqual(whole.toString().split('\n').slice(0, -1));
      }),
    );
  });

  test('may end its lines in the manner of Windows', () => {
    expect(split(['one\r\ntwo\r', '\n']).lines).toEqual(['one', 'two']);
  });

  test('keeps an unfinished line to itself', () => {
    expect(split(['one\ntw'])).toEqual({ lines: ['one'], overlong: [] });
  });

  test('has a line that is too long reported with both its ends, and goes on after it', () => {
    const long = `head${'x'.repeat(5_000)}tail`;
    const chunks = [
      `one\n${long.slice(0, 700)}`,
      long.slice(700, 4_000),
      long.slice(4_000, 5_006),
      `${long.slice(5_006)}\ntwo\n`,
    ];

    const { lines, overlong } = split(chunks, 600);

    expect(lines).toEqual(['one', 'two']);
    expect(overlong).toEqual([{ bytes: 5_008, head: long.slice(0, 512), tail: long.slice(-512) }]);
  });

  test('takes a line of exactly the limit', () => {
    expect(split([`${'x'.repeat(10)}\n`, `${'y'.repeat(11)}\n`], 10)).toMatchObject({
      lines: ['xxxxxxxxxx'],
      overlong: [{ bytes: 11, head: 'yyyyyyyyyyy', tail: 'yyyyyyyyyyy' }],
    });
  });
});
