import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export interface RunCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const closingLine = ({ passed, failed, skipped }: RunCounts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

/**
 * Prints `N passed, N failed` as the very last line of a run, so that a reader or a script finds the outcome in one place.
 * Whatever makes a run red counts as a failure: also a file that doesn't load, a broken hook and an unhandled error.
 * A run in which no test passed or failed ends with exit code 1.
 */
export function closingLineReporter(): Reporter {
  return {
    onTestRunEnd(modules, unhandledErrors) {
      const counts = countRun(modules, unhandledErrors.length);
      // Other reporters and the coverage report write after this hook; at exit nobody does.
      process.once('exit', () => {
        if (counts.failed > 0 || counts.passed === 0) process.exitCode ||= 1;
        writeSync(process.stdout.fd, `${closingLine(counts)}\n`);
      });
    },
  };
}

function countRun(modules: readonly TestModule[], unhandledErrors: number): RunCounts {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const containers = modules.flatMap((module) => [module, ...module.children.allSuites()]);
  const count = (state: string) => tests.filter((test) => test.result().state === state).length;
  return {
    passed: count('passed'),
    failed: count('failed') + containers.filter((container) => container.errors().length > 0).length + unhandledErrors,
    skipped: count('skipped') + count('pending'),
  };
}
