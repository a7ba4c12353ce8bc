import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exposedName } from '../../../../src/adapters/outbound/tools/tool-names.ts';

describe('the name of a tool for a model', () => {
  test('is its server and its own name, when that is legal', () => {
    expect(exposedName('files', 'read_file')).toBe('files__read_file');
    expect(exposedName('my-files', 'read__file')).toBe('my-files__read__file');
  });

  test('has what is not legal replaced, and a hash that tells it from others', () => {
    expect(exposedName('files', 'read.file')).toMatch(/^files__read_file_[0-9a-f]{8}$/);
    expect(exposedName('files', 'read file')).not.toBe(exposedName('files', 'read.file'));
  });

  test('is cut where it is too long, and long names with one beginning stay different', () => {
    const names = ['a', 'b'].map((end) => exposedName('files', `${'x'.repeat(100)}${end}`));

    expect(names[0]).toMatch(/^files__x{48}_[0-9a-f]{8}$/);
    expect(names[0]).not.toBe(names[1]);
    expect(exposedName('files', 'x'.repeat(57))).toBe(`files__${'x'.repeat(57)}`);
  });

  test('has a hash where two pairs would have the same plain name', () => {
    const names = [exposedName('a', 'b__c'), exposedName('a__b', 'c'), exposedName('a_', 'b'), exposedName('a', '_b')];

    expect(new Set(names).size).toBe(4);
    expect(names[0]).toBe('a__b__c');
  });

  test('is always legal, and no two pairs have the same one', () => {
    const word = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', '_', '.', '-') }), fc.string({ maxLength: 100 }));
    const pairs = fc.uniqueArray(fc.tuple(word, word), { selector: (pair) => JSON.stringify(pair), maxLength: 50 });

    fc.assert(
      fc.property(pairs, (all) => {
        const names = all.map(([server, tool]) => exposedName(server, tool));
        for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(new Set(names).size).toBe(all.length);
      }),
    );
  });
});
