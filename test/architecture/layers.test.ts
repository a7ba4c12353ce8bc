import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkLayers } from './layer-check.ts';

const root = join(import.meta.dirname, '../..');
const breaches = join(import.meta.dirname, 'fixtures/breaches');

const typeScriptFilesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

describe('the source tree', () => {
  test('keeps to the layer table, and every file of it was read', async () => {
    const files = typeScriptFilesBelow(join(root, 'src'));

    const report = await checkLayers(root);

    expect(report.violations).toEqual([]);
    expect(files.length).toBeGreaterThan(0);
    expect([...report.files].sort()).toEqual(expect.arrayContaining(files.sort()));
  });
});

describe('a tree with planted breaches', () => {
  test('has each breach found, and nothing else', async () => {
    const report = await checkLayers(breaches);

    expect(Object.fromEntries(report.violations.map(({ file, reason }) => [file, reason]))).toEqual({
      'core/domain/imports-a-port-as-type.ts': 'core/domain may not import core/ports',
      'core/domain/imports-a-port-inline.ts': 'core/domain may not import core/ports',
      'core/domain/re-exports-a-port.ts': 'core/domain may not import core/ports',
      'core/domain/imports-zod.ts': 'core/domain may not import the package zod',
      'core/domain/leaves-src.ts': 'leaves src/',
      'core/use-cases/imports-an-adapter.ts': 'core/use-cases may not import adapters/outbound/sqlite',
      'core/use-cases/imports-node-fs.ts': 'core/use-cases may not import node:fs',
      'core/use-cases/imports-fs-unprefixed.ts': 'core/use-cases may not import node:fs',
      'core/use-cases/requires-a-module.ts': 'core/use-cases may not import node:module',
      'protocol/imports-the-core.ts': 'protocol may not import core/domain',
      'adapters/inbound/websocket/imports-another-family.ts':
        'adapters/inbound/websocket may not import adapters/inbound/http',
      'adapters/outbound/memory/imports-another-family.ts':
        'adapters/outbound/memory may not import adapters/outbound/sqlite',
      'adapters/outbound/memory/imports-a-use-case.ts': 'adapters/outbound/memory may not import core/use-cases',
      'adapters/outbound/memory/imports-inversify.ts': 'adapters/outbound/memory may not import the package inversify',
      'client/imports-zod.ts': 'client may not import the package zod',
      'cli/imports-composition.ts': 'cli may not import composition',
      'cli/imports-composition-dynamically.ts': 'cli may not import composition',
      'cli/imports-main-statically.ts': 'cli may not import main.ts',
      'config/imports-no-such-package.ts': 'could not be resolved',
      'config/imports-nothing-that-exists.ts': 'could not be resolved',
      'stray/belongs-to-no-layer.ts': 'belongs to no layer',
    });
    expect(report.violations).toHaveLength(21);
  });
});
