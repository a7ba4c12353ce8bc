import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const declarationFile = 'src/config/environment.ts';

/** Where the environment may be touched at all. Everything else is handed what it needs. */
const readers = ['src/config/', 'src/cli/', 'src/main.ts'];

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ file: `src/${name}`, text: readFileSync(join(root, 'src', name), 'utf8') }));

describe('the environment', () => {
  // Skipped only as long as the project has no configuration at all.
  test.skipIf(!existsSync(join(root, 'src/config')))(
    '.env.example lists exactly the variables that are declared',
    async () => {
      const example = readFileSync(join(root, '.env.example'), 'utf8');

      const listed = [...example.matchAll(/^#?\s?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name);

      expect(listed.sort()).toEqual((await declaredVariables()).sort());
    },
  );

  test.skipIf(!existsSync(join(root, 'src/config')))(
    'no source file names a variable that is not declared',
    async () => {
      const declared = await declaredVariables();

      const undeclared = sources.flatMap(({ file, text }) =>
        [...text.matchAll(/\b(?:HOLDFAST_[A-Z0-9_]+|[A-Z][A-Z0-9_]*_API_KEY)\b/g)]
          .map(([name]) => name)
          .filter((name) => !declared.includes(name))
          .map((name) => `${file}: ${name}`),
      );

      expect(undeclared).toEqual([]);
    },
  );

  test('is read by the configuration, the command line and the process entry only', () => {
    const offenders = sources
      .filter(({ file, text }) => readsEnvironment(text) && !readers.some((reader) => file.startsWith(reader)))
      .map(({ file }) => file);

    expect(offenders).toEqual([]);
  });

  test.each([
    'const home = process.env.HOME;',
    "const home = process['env'].HOME;",
    'const { env } = process;',
    "import { env } from 'node:process';",
    'process.loadEnvFile();',
  ])('this reads it: %s', (code) => {
    expect(readsEnvironment(code)).toBe(true);
  });
});

function readsEnvironment(code: string): boolean {
  return (
    /\bprocess\s*\??\.\s*(env|loadEnvFile)\b/.test(code) ||
    /\bprocess\s*\[\s*['"]env['"]/.test(code) ||
    /\{[^}]*\benv\b[^}]*\}\s*(=\s*process\b|from\s*['"](node:)?process['"])/.test(code)
  );
}

async function declaredVariables(): Promise<string[]> {
  const module = (await import(pathToFileURL(join(root, declarationFile)).href)) as {
    readonly environmentVariables: readonly { readonly name: string; readonly description: string }[];
  }; // The file is named by convention, so that this test compiles and fails by name where it is missing.
  return module.environmentVariables.map(({ name }) => name);
}
