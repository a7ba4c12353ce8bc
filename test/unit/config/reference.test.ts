import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderConfigurationReference, renderEnvironmentExample } from '../../../scripts/configuration-reference.ts';
import { configKeys, formatKey } from '../../../src/config/config-keys.ts';

const root = join(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

// When one of these two fails: npx tsx scripts/generate-configuration-reference.ts
describe('what is generated from the configuration', () => {
  test('docs/reference/configuration.md is up to date', () => {
    expect(read('docs/reference/configuration.md')).toBe(renderConfigurationReference());
  });

  test('.env.example is up to date', () => {
    expect(read('.env.example')).toBe(renderEnvironmentExample());
  });
});

describe('the keys of the configuration', () => {
  test('include those of the entries of lists', () => {
    const keys = configKeys().map(({ path }) => formatKey(path));

    expect(keys).toEqual(
      expect.arrayContaining([
        'model.fallbacks[].provider',
        'providers.<name>.models.<name>.fallbacks[].model',
        'mcp_servers.<name>.approval_rules[].arguments',
      ]),
    );
  });
});

describe('every key of the configuration', () => {
  const keys = configKeys().filter(({ path }) => path.at(-1) !== '<name>');

  test.each(keys.map((key) => [key.path.join('.'), key] as const))('%s is described and has a type', (_, key) => {
    expect(key.description).not.toBe('');
    expect(key.type).not.toMatch(/any|undefined/);
  });
});
