import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const folder = join(import.meta.dirname, 'judge');

it('the judge shares no code with the program, nor with the rest of the simulator', () => {
  const imports = readdirSync(folder).flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    return [...text.matchAll(/\bfrom '([^']+)'/gu)].map((match) => match[1]);
  });
  expect(imports.length).toBeGreaterThan(0);
  expect(imports.filter((path) => path?.startsWith('./') !== true)).toEqual([]);
});
