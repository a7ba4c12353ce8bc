import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { recordFaults, recordsOf } from './failure-records.ts';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/reference/failure-records.md', root), 'utf8');

/** Every file of the tests but the checker's own, whose examples are none. */
const sources = new Map(
  readdirSync(new URL('test/', root), { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.ts') && !file.startsWith('test/architecture/'))
    .map((file) => [file, readFileSync(new URL(file, root), 'utf8')]),
);

describe('the page of failures that others had', () => {
  test('names for each kind the tests that name it, and no others', () => {
    expect(recordsOf(page).length).toBeGreaterThan(100);
    expect(recordFaults(page, sources)).toEqual([]);
  });

  test('would be found wrong about a file that is not there, one that does not name the kind, and one that it leaves out', () => {
    const wrong = [
      '| A1 | Something | `test/gone.test.ts` |',
      '| A2 | Something | `test/a.test.ts` |',
      '| A2 | Something | Holdfast has no such thing. |',
      '| A3 | Something |  |',
    ].join('\n');
    const tests = new Map([
      ['test/a.test.ts', "test('does this (A1)', () => {});\ntest(`and that (B7, B16)`);\n// (A2)\n"],
    ]);

    expect(recordFaults(wrong, tests)).toEqual([
      'A1: there is no test/gone.test.ts',
      'A2: test/a.test.ts does not name it',
      'A2 is there twice',
      'A3 has neither a test nor a reason',
      'A1: the page does not name test/a.test.ts',
      'B7: the page does not name test/a.test.ts',
      'B16: the page does not name test/a.test.ts',
    ]);
  });
});
