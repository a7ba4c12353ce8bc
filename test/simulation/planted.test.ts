import { expect, it } from 'vitest';
import { runCampaign } from './campaign.ts';
import { plantedBugs } from './planted/bugs.ts';
import { plantedCore } from './planted/plant.ts';

/* A simulator that finds nothing may be blind. Each of these faults must be found, and soon. */
it.each(plantedBugs)(
  'the planted bug $name is found within $within histories',
  { timeout: 300_000 },
  async ({ patches, within, breaks, seed = 1 }) => {
    const core = await plantedCore(patches);
    const { failure } = await runCampaign({ core, seed, histories: within });
    const broken = failure?.run.broken;
    expect(breaks, broken?.message).toContain(broken?.rule);
  },
);
