import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
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
