import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/config/exit-codes.ts';
import { checkConfig } from '../../../src/config/check-config.ts';

const folder = new URL('../../../docs/guides/', import.meta.url);

/** The YAML examples of every guide, by guide. */
const examples = readdirSync(folder).flatMap((guide) =>
  [...readFileSync(new URL(guide, folder), 'utf8').matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => ({
    guide,
    text,
  })),
);

describe('the configuration that a guide shows', () => {
  test('is there', () => {
    expect(examples.map(({ guide }) => guide)).toContain('tools.md');
  });

  test.each(examples)('is valid: $guide', ({ text }) => {
    expect(checkConfig(text, 'config.yaml')).toMatchObject({ kind: 'valid' });
  });
});

describe('the table of exit codes in the guide to reliability', () => {
  test('has each of them once, and no other', () => {
    const guide = readFileSync(new URL('reliability.md', folder), 'utf8');
    const [, table = ''] = /^## Exit codes\n(.*?)^## /ms.exec(guide) ?? [];

    const codes = [...table.matchAll(/^\| (\d+) \| \S/gm)].map(([, code]) => Number(code));

    expect(codes).toEqual(Object.values(exitCodes).sort((a, b) => a - b));
  });
});
