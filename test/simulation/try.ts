import { realCore } from './core-under-test.ts';
import { drawHistory } from './history/history.ts';
import { runHistory } from './run-history.ts';
import { seedOf } from './world/random.ts';
import { plantedCore } from './planted/plant.ts';
import { fixes } from './fixes.ts';
const from = Number(process.argv[2] ?? 0), count = Number(process.argv[3] ?? 100), keep = process.argv[4] === 't';
const core = process.env['REAL'] ? realCore : await plantedCore(fixes);
const t = performance.now(); const c0 = process.cpuUsage(); let steps = 0; const bad = new Map<string, number[]>();
process.on('unhandledRejection', (e) => { console.log('UNHANDLED', e); });
for (let i = from; i < from + count; i++) {
  const run = await runHistory(drawHistory(seedOf(1, i)), core, { keepTrace: keep });
  steps += run.steps;
  if (keep) { console.log(run.trace.join('\n')); console.log(JSON.stringify(run.history.settings)); }
  if (run.broken) { if (keep) console.log(run.broken.message); const k = run.broken.rule + ' ' + run.broken.message.slice(0, 600).replace(/file:\S+\/(\S+)\)/g, '$1').replace(/p\d+-\S+/g, 'ID').replace(/\d+/g, 'N'); bad.set(k, [...(bad.get(k) ?? []), i]); }
}
const ms = performance.now() - t; const cpu = process.cpuUsage(c0).user / 1000;
console.log(`${count} histories, ${(steps / count).toFixed(0)} steps each, ${(count / ms * 1000).toFixed(0)}/s wall, ${(count / cpu * 1000).toFixed(0)}/s cpu`);
for (const [k, v] of [...bad].sort((a, b) => b[1].length - a[1].length)) console.log(v.length, k, 'e.g.', v.slice(0, 5).join(' '));
