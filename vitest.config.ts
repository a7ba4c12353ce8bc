import { defineConfig } from 'vitest/config';
import { closingLineReporter } from './test/support/closing-line-reporter.ts';

const seconds = 1_000;

/** One project per folder of test/. A project runs only the files of its own folder. */
const project = (
  name: string,
  timeoutMs: number,
  order: { readonly groupOrder: number; readonly maxWorkers: number },
  include: readonly string[] = [`test/${name}/**/*.test.ts`],
) => ({
  extends: true as const,
  test: {
    name,
    include: [...include],
    exclude: name === 'long' ? [] : [...longTests],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    maxWorkers: order.maxWorkers,
    sequence: { groupOrder: order.groupOrder },
  },
});

/** What takes long, mostly because it starts many daemons. `npm run test:long` runs it; `npm test` doesn't. */
const longTests = [
  'test/e2e/failpoints/**/*.test.ts',
  'test/e2e/history/**/*.test.ts',
  'test/e2e/storage/**/*.test.ts',
  'test/e2e/tools/**/*.test.ts',
];

// Groups run one after the other. e2e comes last, one file at a time: its daemons are real processes that compete for the cores.
const together = { groupOrder: 0, maxWorkers: 2 };
const alone = { groupOrder: 1, maxWorkers: 1 };

export default defineConfig({
  test: {
    projects: [
      project('architecture', 60 * seconds, together),
      project('unit', 5 * seconds, together),
      project('contract', 20 * seconds, together),
      project('integration', 30 * seconds, together),
      project('simulation', 120 * seconds, together),
      project('e2e', 120 * seconds, alone),
      project('long', 600 * seconds, alone, longTests),
    ],
    passWithNoTests: false,
    allowOnly: false,
    maxWorkers: 2,
    reporters: ['default', closingLineReporter()],
    coverage: {
      provider: 'v8',
      include: ['src/core/**/*.ts'],
      reporter: ['text-summary', 'html'],
      thresholds: { lines: 90, branches: 85 },
    },
  },
});
