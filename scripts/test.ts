/**
 * `npm test`: the checks of the project side by side, then its tests if every check passed.
 * The last line of the output is always `N passed, N failed`; each failed check counts as one failure.
 */
import { spawn } from 'node:child_process';
import type { StdioOptions } from 'node:child_process';
import { text } from 'node:stream/consumers';
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
  if (failed.length === 0) return exitCodeOf(start(tests, ['ignore', 'inherit', 'inherit']));
  console.log(`\nNot passed: ${failed.map(({ name }) => name).join(', ')}. The tests did not run.`);
  console.log(closingLine({ passed: 0, failed: failed.length, skipped: 0 }));
  return 1;
}

/** Prints what a check says when it has ended, so that the lines of two checks don't mix. */
async function runCheck({ name, command }: Check): Promise<boolean> {
  const startedAt = performance.now();
  const child = start(command, ['ignore', 'pipe', 'pipe']);
  const [exitCode, ...said] = await Promise.all([exitCodeOf(child), ...[child.stdout, child.stderr].map(textOf)]);
  console.log(`${name}: ${exitCode === 0 ? 'passed' : 'failed'} in ${seconds(performance.now() - startedAt)}`);
  for (const part of said) if (part !== '') console.log(part.trimEnd());
  return exitCode === 0;
}

function start(command: string, stdio: StdioOptions) {
  return spawn(command, { shell: true, stdio });
}

/** 1 when a signal ended it, or when it could not be started. */
function exitCodeOf(child: ReturnType<typeof start>): Promise<number> {
  return new Promise((resolve) => {
    child.on('error', () => {
      resolve(1);
    });
    child.on('close', (code) => {
      resolve(code ?? 1);
    });
  });
}

function textOf(stream: ReturnType<typeof start>['stdout']): Promise<string> {
  return stream === null ? Promise.resolve('') : text(stream);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
