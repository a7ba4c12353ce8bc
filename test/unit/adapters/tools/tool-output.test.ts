import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutText, renderToolResult } from '../../../../src/adapters/outbound/tools/tool-output.ts';

const render = (result: unknown) => renderToolResult(result, 1_000_000);

describe('the text of a result', () => {
  test('is that of its parts, one after the other', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two\n' },
      { type: 'text', text: 'three' },
    ];

    expect(render({ content })).toEqual({ text: 'one\ntwo\n\nthree', isError: false });
  });

  test('names what is not text', () => {
    const content = [
      { type: 'image', mimeType: 'image/png', data: 'A'.repeat(16_000) },
      { type: 'audio', mimeType: 'audio/wav', data: 'AAA=' },
      { type: 'image', mimeType: 'image/gif', data: 'A'.repeat(4_000_000) },
      { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'application/zip', blob: 'AAAA' } },
      { type: 'resource_link', name: 'notes', uri: 'file:///notes.txt' },
      { type: 'hologram' },
    ];

    expect(render({ content }).text.split('\n')).toEqual([
      '[image image/png, 12 KB]',
      '[audio audio/wav, 2 bytes]',
      '[image image/gif, 3.0 MB]',
      '[resource file:///a.bin application/zip, 3 bytes]',
      '[resource link notes file:///notes.txt]',
      '[hologram]',
    ]);
  });

  test('keeps the text of an embedded resource', () => {
    const content = [{ type: 'resource', resource: { uri: 'file:///a.txt', text: 'its text' } }];

    expect(render({ content }).text).toBe('[resource file:///a.txt]\nits text');
  });

  test('is the structured content, when there is nothing else', () => {
    expect(render({ content: [], structuredContent: { sum: 3 } }).text).toBe('{"sum":3}');
    expect(render({ content: [{ type: 'text', text: 'three' }], structuredContent: { sum: 3 } }).text).toBe('three');
  });

  test('says that it is an error only where the server does', () => {
    expect(render({ content: [], isError: true })).toEqual({ text: '', isError: true });
    expect(render({ content: [], isError: 'yes' }).isError).toBe(false);
  });

  test('comes of a result of any shape', () => {
    fc.assert(fc.property(fc.jsonValue(), (result) => typeof render(result).text === 'string'));
    fc.assert(fc.property(fc.array(fc.jsonValue()), (content) => typeof render({ content }).text === 'string'));
  });
});

describe('a text that is too long', () => {
  test('is cut between two characters, with a last line that says how much is missing', () => {
    expect(cutText('aöö', 4)).toBe('aö\n[output cut: 3 of 5 bytes kept]');
    expect(cutText('😀😀', 7)).toBe('😀\n[output cut: 4 of 8 bytes kept]');
    expect(cutText('aöö', 5)).toBe('aöö');
  });

  test('is whole up to the cut, whatever it consists of', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, maxBytes) => {
        const shown = cutText(text, maxBytes);
        const kept = shown.replace(/\n\[output cut: \d+ of \d+ bytes kept\]$/, '');
        expect(shown === text || Buffer.byteLength(kept) <= maxBytes).toBe(true);
        expect(text.startsWith(kept)).toBe(true);
      }),
    );
  });

  test('has no half characters even when it is short', () => {
    expect(cutText('a\ud800b', 100)).toBe('a\ufffdb');
  });
});
