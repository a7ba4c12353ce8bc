import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandKind } from '../../../src/core/domain/session/commands.ts';
import { WitnessServer } from '../books/witness.ts';
import { makeBeginnings } from './home-copies.ts';
import type { Beginning, BeginningName } from './home-copies.ts';
import { runScenario } from './run-scenario.ts';
import { scenarios } from './scenarios.ts';

/*
 * Kills the daemon at every named place (RELIABILITY 2.1, F1 to F8), in every scenario that passes it, and lets a client
 * that keeps its own books judge what the next daemon makes of it.
 *
 * HOLDFAST_ALL_FAILPOINTS=1 kills it at the first place that each scenario passes, at the second, and so on to the last.
 */

/** Every command; `receipt` changes nothing and passes no place. */
const commands = Object.keys({
  create: 0,
  submit: 0,
  steer: 0,
  receipt: 0,
  cancel: 0,
  interrupt: 0,
  resolve_unknown: 0,
  hold: 0,
  release: 0,
  update: 0,
  delete: 0,
  edit: 0,
  move: 0,
  claim: 0,
  dispatch: 0,
  append: 0,
  finish_call: 0,
  respond_approval: 0,
  expire_approval: 0,
  merge_steers: 0,
  settle: 0,
  start_compression: 0,
  compress_by_hand: 0,
  learn_window: 0,
  rotate: 0,
  fail_compression: 0,
  recover: 0,
} satisfies Record<CommandKind, 0>);

const places: readonly string[] = [
  ...commands
    .filter((command) => command !== 'receipt')
    .flatMap((command) => ['before_commit', 'after_commit', 'after_publish'].map((place) => `${command}.${place}`)),
  ...['model', 'summary'].flatMap((kind) =>
    ['before_send', 'first_event', 'after_answer'].map((place) => `${kind}.${place}`),
  ),
  'tool.before_call',
  'tool.after_call',
  'recovery.before',
  'recovery.session',
  'recovery.after',
];

let server: WitnessServer;
let beginnings: Readonly<Record<BeginningName, Beginning>>;
let runs = 0;

beforeAll(async () => {
  server = await WitnessServer.start();
  beginnings = await makeBeginnings(server);
});

afterAll(async () => {
  for (const { home } of Object.values(beginnings)) home?.remove();
  await server.close();
});

it('the scenarios pass every place that there is', () => {
  const passed = new Set(scenarios.flatMap(({ points }) => points.map((point) => point.split('@')[0])));
  expect(places.filter((place) => !passed.has(place))).toEqual([]);
});

describe.concurrent.each(scenarios)('a daemon in $name', (scenario) => {
  const run = (point: string, action: 'kill' | 'throw'): ReturnType<typeof runScenario> => {
    runs += 1;
    const key = `key-of-run-${String(runs)}`;
    return runScenario(server, scenario, beginnings[scenario.from], { key, point, action });
  };

  it.each(scenario.points)('that is killed at %s breaks no promise', async (point) => {
    const { exit, findings } = await run(point, 'kill');
    expect(findings).toEqual([]);
    expect(exit).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it.each(scenario.bugs ?? [])('that has a bug at %s ends with 70 and breaks no promise', async (point) => {
    const { exit, findings } = await run(point, 'throw');
    expect(findings).toEqual([]);
    expect(exit).toEqual({ code: 70, signal: null });
  });

  it.runIf(process.env['HOLDFAST_ALL_FAILPOINTS'] === '1')(
    'that is killed at the first place that it passes, the second, and so on to the last, breaks no promise',
    async ({ annotate }) => {
      let kills = 0;
      for (;;) {
        const { exit, findings } = await run(`*@${String(kills + 1)}`, 'kill');
        expect({ nth: kills + 1, findings }).toEqual({ nth: kills + 1, findings: [] });
        if (exit.signal === null) break;
        kills += 1;
      }
      await annotate(`${String(kills)} kills`);
    },
    3_600_000,
  );
});
