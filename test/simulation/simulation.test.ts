import { describe, expect, it } from 'vitest';
import { explain, runCampaign } from './campaign.ts';
import { realCore } from './core-under-test.ts';
import { Coverage } from './coverage.ts';
import { unreached } from './expected-coverage.ts';
import { drawHistory } from './history/history.ts';
import { draftOf, draftOfToken, historyToken, seedToken } from './history/token.ts';
import { runHistory } from './run-history.ts';
import { seedOf } from './world/random.ts';

/* With these seeds everything that is expected is reached. `npm run simulate -- --histories 1000000` plays more. */
const campaigns = [1, 2, 6, 7];
const historiesEach = 750;

describe('the promises', () => {
  const coverage = new Coverage();

  it.each(campaigns)(`hold in ${historiesEach} random histories (seed %i)`, async (seed) => {
    const result = await runCampaign({ core: realCore, seed, histories: historiesEach });
    coverage.merge(result.coverage);
    if (result.failure === null) return;
    const { report } = await explain(result.failure.run, realCore, 20_000);
    expect.fail(`${report}\nAs it was drawn: --replay ${seedToken(result.failure.seed)}`);
  });

  it('were put to every test that is expected', () => {
    expect(unreached(coverage)).toEqual([]);
  });
});

describe('a history', () => {
  const seeds = Array.from({ length: 25 }, (_, index) => seedOf(99, index));

  it('is the same, step for step, whenever its seed is played', async () => {
    for (const seed of seeds) {
      const first = await runHistory(drawHistory(seed), realCore);
      const second = await runHistory(drawHistory(seed), realCore);
      expect([second.traceHash, second.steps]).toEqual([first.traceHash, first.steps]);
    }
  });

  it('is the same when its written form is played', async () => {
    for (const seed of seeds) {
      const drawn = await runHistory(drawHistory(seed), realCore);
      const written = await runHistory(draftOf(drawn.history), realCore);
      const replayed = await runHistory(draftOfToken(historyToken(drawn.history)), realCore);
      expect([written.traceHash, replayed.traceHash]).toEqual([drawn.traceHash, drawn.traceHash]);
    }
  });
});
