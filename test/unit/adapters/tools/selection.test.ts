import { describe, expect, test } from 'vitest';
import { readSelection } from '../../../../src/adapters/outbound/tools/selection.ts';

const servers = ['builtin', 'files', 'files.old'];

describe('a selection', () => {
  test('names whole servers and single tools', () => {
    const { wanted, unknown } = readSelection(['files', 'builtin.time'], servers);

    expect([...wanted]).toEqual([
      ['files', 'all'],
      ['builtin', new Set(['time'])],
    ]);
    expect(unknown).toEqual([]);
  });

  test('may have dots in the names of tools and servers', () => {
    const { wanted } = readSelection(['files.a.b', 'files.old.c', 'files.older'], servers);

    expect([...wanted]).toEqual([
      ['files', new Set(['a.b', 'older'])],
      ['files.old', new Set(['c'])],
    ]);
  });

  test('that names a server and also its tools means all of them, in whatever order', () => {
    for (const entries of [
      ['files', 'files.a'],
      ['files.a', 'files'],
    ]) {
      expect([...readSelection(entries, servers).wanted]).toEqual([['files', 'all']]);
    }
  });

  test('reports entries that fit no server', () => {
    expect(readSelection(['web', 'filesystem', 'web.get', ''], servers).unknown).toEqual([
      'web',
      'filesystem',
      'web.get',
      '',
    ]);
  });
});
