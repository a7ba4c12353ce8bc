import { plantedBugs } from './planted/bugs.ts';
import { plantedCore } from './planted/plant.ts';
import { runCampaign } from './campaign.ts';
import { fixes } from './fixes.ts';
const only = process.argv[2];
process.on('unhandledRejection', (e) => { console.log('UNHANDLED', String(e).slice(0, 100)); });
for (const bug of plantedBugs) {
  if (only && !bug.name.includes(only)) continue;
  const t = performance.now();
  try {
  const core = await plantedCore(process.env['REAL'] ? bug.patches : [...fixes, ...bug.patches]);
  const loaded = performance.now() - t;
  const founds: string[] = [];
  let msg = '';
  for (const seed of [1, 2, 3]) {
    const { failure } = await runCampaign({ core, seed, histories: bug.within });
    founds.push(failure ? String(failure.index + 1) : 'MISSED');
    if (failure && !msg) msg = failure.run.broken!.rule + ' ' + failure.run.broken!.message.split('\n')[0]!.slice(0, 110);
  }
  console.log(bug.name.padEnd(38), founds.join(', ').padEnd(20), `load ${loaded.toFixed(0)} total ${(performance.now() - t).toFixed(0)} ms`, msg);
  } catch (e) { console.log(bug.name, 'ERROR', String(e).slice(0, 200)); }
}
