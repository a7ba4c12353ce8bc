import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameTooLong, SseParser, frameContent } from '../../../../src/adapters/outbound/model/sse-frames.ts';

function eventsOf(pieces: readonly Uint8Array[]): readonly unknown[] {
  const parser = new SseParser(1_000_000);
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe('server-sent events', () => {
  it.each<[string, string, readonly { name: string | null; data: string }[]]>([
    [
      'with LF',
      'data: a\n\ndata: b\n\n',
      [
        { name: null, data: 'a' },
        { name: null, data: 'b' },
      ],
    ],
    [
      'with CR LF',
      'data: a\r\n\r\ndata: b\r\n\r\n',
      [
        { name: null, data: 'a' },
        { name: null, data: 'b' },
      ],
    ],
    [
      'with CR',
      'data: a\r\rdata: b\r\r',
      [
        { name: null, data: 'a' },
        { name: null, data: 'b' },
      ],
    ],
    ['of several lines', 'data: a\ndata: b\n\n', [{ name: null, data: 'a\nb' }]],
    [
      'with a name',
      'event: error\ndata: a\n\ndata: b\n\n',
      [
        { name: 'error', data: 'a' },
        { name: null, data: 'b' },
      ],
    ],
    [
      'with comments, ids and unknown fields between',
      ': hi\nid: 7\nretry: 5\nfoo: x\ndata:a\n\n: bye\n\n',
      [{ name: null, data: 'a' }],
    ],
    [
      'without a blank line at the end',
      'data: a\n\ndata: b',
      [
        { name: null, data: 'a' },
        { name: null, data: 'b' },
      ],
    ],
    ['after a byte order mark', '\uFEFFdata: a\n\n', [{ name: null, data: 'a' }]],
    ['that are none', '\n\n\n', []],
  ])('%s are read', (_, text, expected) => {
    expect(eventsOf([bytes(text)])).toEqual(expected);
  });

  it('are the same however their bytes are cut', () => {
    const text = bytes(
      ': ok\r\n\r\nevent: x\r\ndata: {"a":"Grüße 世界 🎉"}\r\n\r\ndata: two\ndata: lines\n\ndata: [DONE]\r\r',
    );
    const whole = eventsOf([text]);

    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 20 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
        expect(eventsOf(pieces)).toEqual(whole);
      }),
    );
  });

  it('that pass the limit are refused, in one line or in many', () => {
    expect(() => new SseParser(100).push(bytes(`data: ${'x'.repeat(200)}`))).toThrow(FrameTooLong);
    expect(() => new SseParser(100).push(bytes(`data: ${'x'.repeat(40)}\n`.repeat(4)))).toThrow(FrameTooLong);
  });

  it('of many small pieces cost no more than their length', () => {
    const parser = new SseParser(10_000_000);
    const startedAtMs = performance.now();

    for (let piece = 0; piece < 20_000; piece += 1) parser.push(bytes('x'.repeat(50)));

    expect(performance.now() - startedAtMs).toBeLessThan(1500);
  });
});

describe('the data of a frame', () => {
  it.each<[string, unknown]>([
    ['{"a":1}', { kind: 'json', values: [{ a: 1 }] }],
    ['{"a":1}\n{"b":2}', { kind: 'json', values: [{ a: 1 }, { b: 2 }] }],
    ['{"a":1}\n[DONE]', { kind: 'garbage' }],
    [' [DONE] ', { kind: 'done' }],
    ['  ', { kind: 'empty' }],
    ['{"a":', { kind: 'garbage' }],
    ['{"a":1}\noops', { kind: 'garbage' }],
  ])('%j is read', (data, expected) => {
    expect(frameContent(data)).toEqual(expected);
  });
});
