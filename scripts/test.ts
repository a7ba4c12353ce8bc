/**
 * `npm test`: the checks of the project side by side, then its tests if every check passed.
 * The last line of the output is always `N passed, N failed`; each failed check counts as one failure.
 */
import { exec, spawnSync } from 'node:child_process';
import { closingLine } from '../test/support/closing-line-reporter.ts';

interface Check {
  readonly name: string;
  readonly command: string;
}

const checks: readonly Check[] = [
  { name: 'typecheck', command: 'npm run --silent typecheck' },
  { name: 'lint', command: 'npm run --silent lint' },
  { name: 'format', command: 'npm run --silent format:check' },
  { name: 'build', command: 'npm run --silent build' },
];
const tests = "npx --no-install vitest run --project '!long'";

process.exitCode = await runAll();

async function runAll(): Promise<number> {
  const passed = await Promise.all(checks.map(runCheck));
  const failed = checks.filter((_, index) => passed[index] !== true);
  if (failed.length === 0) {
    return spawnSync(tests, { shell: true, stdio: ['ignore', 'inherit', 'inherit'] }).status ?? 1; // null: by a signal
  }
  console.log(`\nNot passed: ${failed.map(({ name }) => name).join(', ')}. The tests did not run.`);
  console.log(closingLine({ passed: 0, failed: failed.length, skipped: 0 }));
  return 1;
}

/** Prints what a check says when it has ended, so that the lines of two checks don't mix. */
function runCheck({ name, command }: Check): Promise<boolean> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    exec(command, { maxBuffer: Infinity }, (error, ...said) => {
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      console.log(`${name}: ${error === null ? 'passed' : 'failed'} in ${seconds} s`);
      for (const text of said) if (text !== '') console.log(text.trimEnd());
      resolve(error === null);
    });
  });
}
