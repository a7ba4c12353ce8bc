import type { CoreUnderTest } from './core-under-test.ts';
import { Coverage } from './coverage.ts';
import { drawHistory } from './history/history.ts';
import type { History } from './history/history.ts';
import { shrink } from './history/shrink.ts';
import { draftOf, historyToken } from './history/token.ts';
import type { Broken } from './judge/verdict.ts';
import { runHistory } from './run-history.ts';
import type { Run } from './run-history.ts';
import { seedOf } from './world/random.ts';

export interface CampaignInput {
  readonly core: CoreUnderTest;
  readonly seed: number;
  readonly histories: number;
  /** Asked before each history: whether this one is not begun any more. */
  readonly isOver?: () => boolean;
  readonly progress?: (done: number) => void;
}

export interface CampaignResult {
  readonly histories: number;
  readonly steps: number;
  /** Of the histories that were played: how many commands the clients gave, at the median. */
  readonly medianCommands: number;
  readonly coverage: Coverage;
  /** The first failure; the campaign ends with it. */
  readonly failure: { readonly index: number; readonly seed: number; readonly run: Run } | null;
}

/** Plays histories one after the other until one breaks a promise. */
export async function runCampaign(input: CampaignInput): Promise<CampaignResult> {
  const { core, seed, histories, progress, isOver = () => false } = input;
  const coverage = new Coverage();
  const commands: number[] = [];
  let steps = 0;
  for (let index = 0; index < histories && !isOver(); index += 1) {
    const historySeed = seedOf(seed, index);
    const run = await runHistory(drawHistory(historySeed), core);
    steps += run.steps;
    commands.push(run.history.commands.length);
    coverage.merge(run.coverage);
    if (run.broken !== null) return result({ index, seed: historySeed, run });
    progress?.(index + 1);
  }
  return result(null);

  function result(failure: CampaignResult['failure']): CampaignResult {
    const medianCommands = commands.toSorted((a, b) => a - b)[commands.length >> 1] ?? 0;
    return { histories: commands.length, steps, medianCommands, coverage, failure };
  }
}

/** A failing history, made small, with what a person needs to understand it. */
export interface Explained {
  readonly broken: Broken;
  readonly history: History;
  readonly token: string;
  readonly report: string;
}

/** Shrinks a failure and tells its story. */
export async function explain(failing: Run, core: CoreUnderTest, budgetMs: number): Promise<Explained> {
  if (failing.broken === null) throw new Error('The history has not failed');
  const wanted = kindOf(failing.broken);
  const history = await shrink(
    failing.history,
    async (candidate, redraw) => {
      const { broken, history: played } = await runHistory(draftOf(candidate, redraw), core);
      return broken !== null && kindOf(broken) === wanted ? played : null;
    },
    budgetMs,
  );
  const run = await runHistory(draftOf(history), core, { keepTrace: true });
  const broken = run.broken ?? failing.broken;
  const token = historyToken(history);
  return { broken, history, token, report: reportOf(broken, run, token) };
}

/** Two failures are of one kind when they break the same rule with the same words, names and numbers aside. */
function kindOf({ rule, message }: Broken): string {
  const [firstLine = ''] = message.split('\n');
  return `${rule} ${firstLine
    .replace(/[\w~-]*\d[\w~-]*/gu, '#')
    .replace(/\[.*\]/u, '[]')
    .slice(0, 120)}`;
}

function reportOf(broken: Broken, run: Run, token: string): string {
  const { settings, commands, chances } = run.history;
  return [
    `${broken.rule} is broken at step ${broken.step}: ${broken.message}`,
    '',
    ...run.trace.map((line) => `  ${line}`),
    '',
    `settings: ${JSON.stringify(settings)}`,
    `commands: ${commands.map((command) => JSON.stringify(command)).join('\n          ')}`,
    `blows:    ${JSON.stringify(chances.blows)}`,
    `faults:   ${JSON.stringify(chances.faults)}`,
    `picks:    ${chances.picks.length}, of which ${chances.picks.filter((pick) => pick !== 0).length} are unusual`,
    '',
    `Replay it: npm run simulate -- --replay ${token}`,
  ].join('\n');
}
