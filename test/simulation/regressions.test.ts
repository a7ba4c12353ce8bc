import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { explain } from './campaign.ts';
import { realCore } from './core-under-test.ts';
import { draftOf } from './history/token.ts';
import type { History } from './history/history.ts';
import { runHistory } from './run-history.ts';

const folder = join(import.meta.dirname, 'regressions');

/* What once broke a promise, as small as it was made then. `--keep <name>` adds one. */
it.each(readdirSync(folder))('%s breaks nothing any more', async (file) => {
  const { history } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { history: History }; // `--keep` wrote it
  const run = await runHistory(draftOf(history), realCore);
  if (run.broken !== null) expect.fail((await explain(run, realCore, 0)).report);
});
