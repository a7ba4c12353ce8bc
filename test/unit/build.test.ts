import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryHome } from './config/temporary-home.ts';

const script = fileURLToPath(new URL('../../scripts/build.js', import.meta.url));

/* A gateway that runs loads files of dist when it first needs them. */
describe('a build', () => {
  test('leaves what was built before in its place until all of the new one is there', () => {
    const checkout = aCheckout();

    const status = build(checkout, `fs.existsSync('dist/old.js') || process.exit(9)`);

    expect(status).toBe(0);
    expect(readdirSync(join(checkout, 'dist'))).toEqual(['new.js']);
    expect(readdirSync(checkout).sort()).toEqual(['compiler.cjs', 'dist']);
  });

  test('that fails leaves what was there', () => {
    const checkout = aCheckout();

    expect(build(checkout, 'process.exit(2)')).toBe(2);

    expect(existsSync(join(checkout, 'dist', 'old.js'))).toBe(true);
    expect(readdirSync(checkout).sort()).toEqual(['compiler.cjs', 'dist']);
  });

  test('is the one of package.json', () => {
    const manifest = readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8');
    const { scripts } = JSON.parse(manifest) as { readonly scripts: Readonly<Record<string, string>> };
    expect(scripts['build']).toBe('node scripts/build.js tsc -p tsconfig.build.json');
  });
});

function aCheckout(): string {
  const checkout = temporaryHome();
  mkdirSync(join(checkout, 'dist'));
  writeFileSync(join(checkout, 'dist', 'old.js'), '');
  return checkout;
}

/** With a compiler that looks around first. */
function build(checkout: string, look: string): number | null {
  const compiler = `const fs = require('node:fs'); ${look};
    const out = process.argv.at(-1); fs.mkdirSync(out, { recursive: true }); fs.writeFileSync(out + '/new.js', '');`;
  writeFileSync(join(checkout, 'compiler.cjs'), compiler);
  return spawnSync(process.execPath, [script, process.execPath, 'compiler.cjs'], { cwd: checkout }).status;
}
