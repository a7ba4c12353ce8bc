/**
 * `npm test`: every check of the project, in stages, cheapest first. The first stage that fails ends the run.
 * The last line of the output is always `N passed, N failed`; a failed stage before the tests counts as one failure.
 */
import { spawnSync } from 'node:child_process';
import { closingLine } from '../test/support/closing-line-reporter.ts';

interface Stage {
  readonly name: string;
  readonly command: string;
}

const checks: readonly Stage[] = [
  { name: 'typecheck', command: 'npm run --silent typecheck' },
  { name: 'lint', command: 'npm run --silent lint' },
  { name: 'format', command: 'npm run --silent format:check' },
  { name: 'build', command: 'npm run --silent build' },
];
const tests: Stage = { name: 'tests', command: "npx --no-install vitest run --project '!long'" };

process.exitCode = runAll();

function runAll(): number {
  for (const [index, stage] of checks.entries()) {
    const exitCode = run(stage, index + 1);
    if (exitCode === 0) continue;
    console.log(`\nThe ${stage.name} stage failed, so the tests did not run.`);
    console.log(closingLine({ passed: 0, failed: 1, skipped: 0 }));
    return exitCode;
  }
  return run(tests, checks.length + 1);
}

function run(stage: Stage, number: number): number {
  console.log(`[${number}/${checks.length + 1}] ${stage.name}`);
  const startedAt = performance.now();
  const { status } = spawnSync(stage.command, { shell: true, stdio: ['ignore', 'inherit', 'inherit'] });
  if (stage !== tests) console.log(`      ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return status ?? 1; // null means that a signal ended it
}
