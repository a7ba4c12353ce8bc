import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { format, resolveConfig } from 'prettier';
import { explain, runCampaign } from './campaign.ts';
import type { Explained } from './campaign.ts';
import { realCore } from './core-under-test.ts';
import type { CoreUnderTest } from './core-under-test.ts';
import { coverageTable, unreached } from './expected-coverage.ts';
import { draftOfToken, seedToken } from './history/token.ts';
import { plantedBugs } from './planted/bugs.ts';
import { plantedCore } from './planted/plant.ts';
import { tablePlantedBugs } from './planted/table.ts';
import { runHistory } from './run-history.ts';

/** So many histories reach everything that is expected; fewer may miss something by chance. */
const enoughForCoverage = 3000;

interface Options {
  readonly histories: string;
  readonly minutes?: string;
  readonly seed?: string;
  readonly planted?: string;
  readonly replay?: string;
  readonly shrinkSeconds: string;
  readonly keep?: string;
}

const program = new Command('simulate')
  .description('Plays random histories of the gateway in a simulated world and checks its promises after every step.')
  .option('--histories <count>', 'how many histories', '3000')
  .option('--minutes <count>', 'end after so many minutes, however many histories are left')
  .option('--seed <number>', 'the seed of the campaign; without one the clock gives it')
  .option('--planted <name>', 'run a copy of the core with this planted bug; `all` shows how soon each is found')
  .option('--replay <token>', 'play one history again and print its trace')
  .option('--shrink-seconds <seconds>', 'how long a failure may be made smaller', '30')
  .option('--keep <name>', 'write a failure to test/simulation/regressions/<name>.json')
  .action(async (options: Options) => {
    process.exitCode = await main(options);
  });
await program.parseAsync();

async function main(options: Options): Promise<number> {
  if (options.planted === 'all') {
    await tablePlantedBugs([1, 2, 3], (line) => console.log(line));
    return 0;
  }
  const core = await coreOf(options.planted);
  return options.replay === undefined ? search(options, core) : replay(options.replay, core, options);
}

async function coreOf(name: string | undefined): Promise<CoreUnderTest> {
  if (name === undefined) return realCore;
  const bug = plantedBugs.find((other) => other.name === name);
  if (bug === undefined) throw new Error(`The planted bugs are: ${plantedBugs.map((other) => other.name).join(', ')}`);
  return plantedCore(bug.patches);
}

async function replay(token: string, core: CoreUnderTest, options: Options): Promise<number> {
  const run = await runHistory(draftOfToken(token), core, { keepTrace: true });
  for (const line of run.trace) console.log(line);
  console.log(run.broken === null ? 'Nothing is broken.' : `${run.broken.rule} is broken: ${run.broken.message}`);
  if (run.broken === null) return 0;
  if (options.keep !== undefined) await keep(options.keep, await explain(run, core, shrinkMs(options)));
  return 1;
}

async function search(options: Options, core: CoreUnderTest): Promise<number> {
  const seed = Number(options.seed ?? Date.now() % 2 ** 31);
  const histories = Number(options.histories);
  const minutes = Number(options.minutes ?? Infinity);
  const startedAt = performance.now();
  let toldAt = startedAt;
  console.log(`${histories} histories from seed ${seed}`);
  const result = await runCampaign({
    core,
    seed,
    histories,
    isOver: () => performance.now() - startedAt > minutes * 60_000,
    progress: (done) => {
      if (performance.now() - toldAt < 5000) return;
      toldAt = performance.now();
      console.log(`  ${done} histories, ${perSecond(done, startedAt)}/s`);
    },
  });
  const rate = perSecond(result.histories, startedAt);
  const { medianCommands } = result;
  const steps = Math.round(result.steps / result.histories);
  console.log(`${result.histories} histories of ${steps} steps and ${medianCommands} commands (median), ${rate}/s`);
  if (result.failure !== null) {
    const { failure } = result;
    console.log(`History ${failure.index} broke a promise: --replay ${seedToken(failure.seed)}. Making it smaller…\n`);
    const explained = await explain(failure.run, core, shrinkMs(options));
    console.log(explained.report);
    if (options.keep !== undefined) await keep(options.keep, explained);
    return 1;
  }
  console.log(coverageTable(result.coverage));
  const missing = unreached(result.coverage);
  if (missing.length === 0 || options.planted !== undefined) return 0;
  console.log(`Never reached: ${missing.join(', ')}`);
  return result.histories >= enoughForCoverage ? 1 : 0;
}

function shrinkMs({ shrinkSeconds }: Options): number {
  return Number(shrinkSeconds) * 1000;
}

async function keep(name: string, { broken, history }: Pick<Explained, 'broken' | 'history'>): Promise<void> {
  const folder = join(import.meta.dirname, 'regressions');
  const path = join(folder, `${name}.json`);
  const text = JSON.stringify({ broken: `${broken.rule}: ${broken.message.split('\n')[0]}`, history });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
  console.log(`Kept in ${path}`);
}

function perSecond(count: number, startedAt: number): number {
  return Math.round((count / (performance.now() - startedAt)) * 1000);
}
