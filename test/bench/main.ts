/*
 * `npm run bench [-- submits|turns|chunks|compression]`: what the built daemon costs, as ratios against floors measured in the same
 * run on the same disk. Figures on a shared machine are noisy; the ratios are what counts.
 */
import { cpus } from 'node:os';
import { benchChunks } from './chunks.ts';
import { benchCompression } from './compression.ts';
import { benchSubmits } from './submits.ts';
import { benchTurns } from './turns.ts';

const benches: Readonly<Record<string, () => Promise<void>>> = {
  submits: benchSubmits,
  turns: benchTurns,
  chunks: benchChunks,
  compression: benchCompression,
};

const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const unknown = chosen.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`No bench is called ${unknown.join(', ')}. There are: ${Object.keys(benches).join(', ')}.`);
  process.exit(2);
}

console.log(`node ${process.version}, ${String(cpus().length)} × ${cpus()[0]?.model ?? 'unknown processor'}`);
for (const [name, bench] of Object.entries(benches)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  console.log(`\n## ${name}`);
  await bench();
}
