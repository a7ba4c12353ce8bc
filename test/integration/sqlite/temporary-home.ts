import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own for the running test, removed when the test is over. */
export function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}
