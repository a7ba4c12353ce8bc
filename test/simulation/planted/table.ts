import { runCampaign } from '../campaign.ts';
import { plantedBugs } from './bugs.ts';
import type { PlantedBug } from './planted-bug.ts';
import { plantedCore } from './plant.ts';

/** In which history each planted bug is found, for some seeds; a line for each bug, as soon as it is known. */
export async function tablePlantedBugs(seeds: readonly number[], print: (line: string) => void): Promise<void> {
  for (const bug of plantedBugs) {
    const core = await plantedCore(bug.patches);
    const found: string[] = [];
    for (const seed of seeds) {
      const { failure } = await runCampaign({ core, seed, histories: bug.within });
      found.push(failure === null ? 'missed' : placeOf(bug, failure.index + 1, failure.run.broken?.rule ?? 'bug'));
    }
    print(`${bug.name.padEnd(48)} ${found.map((place) => place.padStart(9)).join(' ')}`);
  }
}

function placeOf(bug: PlantedBug, count: number, rule: PlantedBug['breaks'][number]): string {
  return bug.breaks.includes(rule) ? `${count} ${rule}` : `${count} ${rule}?`;
}
