/*
 * Builds into a folder of its own and puts it in the place of dist at the end: a gateway that runs from dist loads a part
 * of it only when it is needed, so nothing may be missing meanwhile, and a build that fails leaves what was there.
 * The arguments are the compiler with its options; it is told the folder with --outDir.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, existsSync } from 'node:fs';
import { join } from 'node:path';

const [compiler = 'tsc', ...options] = process.argv.slice(2);
const work = mkdtempSync('.dist-');
const fresh = join(work, 'fresh');

try {
  const { status } = spawnSync(compiler, [...options, '--outDir', fresh], { stdio: 'inherit' });
  if (status === 0) {
    if (existsSync('dist')) renameSync('dist', join(work, 'old'));
    renameSync(fresh, 'dist');
  }
  process.exitCode = status ?? 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
