import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { format } from 'prettier';
import { describe, expect, test } from 'vitest';
import { renderErrors, renderEvents, renderMethods, renderOpenRpc } from '../../../scripts/protocol-reference.ts';
import { objectRows } from '../../../scripts/schema-tables.ts';
import { openRpcDocument } from '../../../src/protocol/open-rpc.ts';

// Required without its types, for they come as sources that don't hold under our compiler settings.
const { validateOpenRPCDocument } = createRequire(import.meta.url)('@open-rpc/schema-utils-js') as {
  validateOpenRPCDocument: (document: unknown) => unknown;
};

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../../../docs/reference', file), 'utf8');

// When one of these fails: npx tsx scripts/generate-reference.ts
describe('what is generated from the protocol', () => {
  test.each([
    ['methods.md', renderMethods],
    ['errors.md', renderErrors],
    ['events.md', renderEvents],
  ])('docs/reference/%s is up to date', (file, render) => {
    expect(read(file)).toBe(render());
  });

  test('docs/reference/openrpc.json is up to date', async () => {
    expect(read('openrpc.json')).toBe(await format(renderOpenRpc(), { parser: 'json', printWidth: 120 }));
  });
});

test('the fields of an object with several forms say with which form they come', () => {
  const field = { type: 'integer' } as const;
  const form = (name: string, key: string, description?: string) => ({
    ...(description === undefined ? {} : { description }),
    properties: { kind: { const: name }, both: field, [key]: field },
    required: ['kind', 'both', key],
  });

  expect(objectRows({ oneOf: [form('a', 'one', 'The first.'), form('b', 'two')] })).toEqual([
    ['`kind`', '`"a"`, `"b"`', 'yes', '`"a"`: The first.'],
    ['`both`', 'integer', 'yes', ''],
    ['`one`', 'integer', 'yes', 'Only with `kind` `"a"`.'],
    ['`two`', 'integer', 'yes', 'Only with `kind` `"b"`.'],
  ]);
});

describe('the OpenRPC document', () => {
  test('is one', () => {
    expect(validateOpenRPCDocument(JSON.parse(JSON.stringify(openRpcDocument())))).toBe(true);
  });

  test('refers to nothing that is missing', () => {
    const document = openRpcDocument();
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];

    expect(refs.length).toBeGreaterThan(50);
    for (const [, kind, name] of refs) {
      const known = kind === 'errors' ? document.components.errors : document.components.schemas;
      expect(Object.keys(known)).toContain(name);
    }
  });
});
