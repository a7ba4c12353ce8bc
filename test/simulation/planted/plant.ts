import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import type { CoreUnderTest } from '../core-under-test.ts';

/** One exact replacement in one file of `src/`. It must match once, so that a change of the source can't blunt it. */
export interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const sourceRoot = fileURLToPath(new URL('../../../src/', import.meta.url));
const copied = ['core', 'adapters/outbound/memory'];

/**
 * A copy of the core, and of the memory store that uses it, with some lines replaced: compiled to a folder of its own
 * and loaded from there. Nothing under `src/` is touched, and every copy has modules of its own.
 */
export async function plantedCore(patches: readonly Patch[]): Promise<CoreUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-planted-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const used = new Set<Patch>();
    for (const file of sourceFiles()) {
      const own = patches.filter((patch) => patch.file === file);
      const text = own.reduce(
        (source, patch) => patched(source, patch, used),
        readFileSync(join(sourceRoot, file), 'utf8'),
      );
      const target = join(folder, file.replace(/\.ts$/u, '.js'));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, own.length === 0 ? compiledSource(file, text) : compiled(text));
    }
    for (const patch of patches) if (!used.has(patch)) throw new Error(`There is no file ${patch.file} to patch`);
    return await loadCore(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function patched(source: string, patch: Patch, used: Set<Patch>): string {
  const parts = source.split(patch.from);
  if (parts.length !== 2) {
    throw new Error(`${patch.file} has ${parts.length - 1} places, not one, that read:\n${patch.from}`);
  }
  used.add(patch);
  return parts.join(patch.to);
}

const unchanged = new Map<string, string>();

/** The unpatched files are compiled once for all copies. */
function compiledSource(file: string, text: string): string {
  const known = unchanged.get(file) ?? compiled(text);
  unchanged.set(file, known);
  return known;
}

function compiled(text: string): string {
  return ts.transpileModule(text, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  }).outputText;
}

function sourceFiles(): readonly string[] {
  return copied.flatMap((part) => filesBelow(join(sourceRoot, part))).map((path) => relative(sourceRoot, path));
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

const loaded = [
  'core/use-cases/gateway.js',
  'core/use-cases/create-session.js',
  'core/use-cases/submit-prompt.js',
  'core/use-cases/steer-prompt.js',
  'core/use-cases/edit-prompt.js',
  'core/use-cases/fork-session.js',
  'core/use-cases/respond-approval.js',
  'core/use-cases/subscribe.js',
  'core/ports/ledger.js',
  'adapters/outbound/memory/memory-store.js',
  'adapters/outbound/memory/memory-tables.js',
  'adapters/outbound/memory/memory-queries.js',
  'adapters/outbound/memory/memory-event-hub.js',
];

/**
 * One import of one file that names the others: a runner that is asked for modules at the same time may make one of them
 * twice, and an error of the one copy is none of the other's.
 */
async function loadCore(folder: string): Promise<CoreUnderTest> {
  const entry = join(folder, 'index.js');
  writeFileSync(entry, loaded.map((file) => `export * from './${file}';\n`).join(''));
  const core: unknown = await import(/* @vite-ignore */ pathToFileURL(entry).href);
  return core as CoreUnderTest; // the copy of each module exports what the original does
}
