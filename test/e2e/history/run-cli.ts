import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestHome } from '../../support/daemon.ts';

const entry =
  process.env['HOLDFAST_TEST_ENTRY'] ?? fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** Runs the built command line against the gateway of a home. */
export function runCli(
  home: TestHome,
  argv: readonly string[],
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: home.path };
    const options = { env, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(
      process.execPath,
      [entry, ...argv, '--home', home.path],
      options,
      (_error, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, stdout, stderr });
      },
    );
  });
}
