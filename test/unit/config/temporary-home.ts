import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own for one test. */
export function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}
