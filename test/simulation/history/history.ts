import { DrawnDecisions } from '../world/decisions.ts';
import type { Chances, Decisions } from '../world/decisions.ts';
import { Random } from '../world/random.ts';
import type { Command } from './commands.ts';
import { drawCommands } from './draw-commands.ts';
import { drawRates, drawSettings } from './settings.ts';
import type { Settings } from './settings.ts';

/** Everything that determines what happens. Two runs of one history are equal, step for step. */
export interface History {
  readonly settings: Settings;
  readonly commands: readonly Command[];
  readonly chances: Chances;
}

/** A history whose chances are not written down yet: they are drawn while it runs. */
export interface Draft {
  readonly settings: Settings;
  readonly commands: readonly Command[];
  readonly decisions: Decisions;
}

/** The history that belongs to a seed. */
export function drawHistory(seed: number): Draft {
  const random = new Random(seed);
  const settings = drawSettings(random);
  const length = random.oneOf([10, 20, 30, 30, 40, 60]);
  const commands = drawCommands(random, settings.sessions, length);
  const rates = drawRates(random);
  return { settings, commands, decisions: new DrawnDecisions(random.below(2 ** 31), rates) };
}
