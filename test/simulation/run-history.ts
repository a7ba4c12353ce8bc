import { setImmediate } from 'node:timers/promises';
import { Client } from './cast/client.ts';
import { FrontDesk } from './cast/front-desk.ts';
import { Site } from './cast/site.ts';
import type { CoreUnderTest } from './core-under-test.ts';
import { Coverage } from './coverage.ts';
import { clientCount } from './history/commands.ts';
import type { Command } from './history/commands.ts';
import type { Draft, History } from './history/history.ts';
import type { Broken } from './judge/verdict.ts';
import type { Disk } from './ports/disk.ts';
import type { Blow } from './world/decisions.ts';
import { Trace } from './world/trace.ts';
import { World } from './world/world.ts';

export interface Run {
  readonly broken: Broken | null;
  /** The history with all its chances written down. */
  readonly history: History;
  readonly steps: number;
  readonly traceHash: string;
  /** Empty unless it was asked for. */
  readonly trace: readonly string[];
  readonly coverage: Coverage;
  /** What was left on the disk. */
  readonly disk: Disk;
}

/** Plays one history to its end, or to the first broken promise. */
export async function runHistory(
  draft: Draft,
  core: CoreUnderTest,
  options: { readonly keepTrace?: boolean } = {},
): Promise<Run> {
  const play = new Play(draft, core, new Trace({ keep: options.keepTrace ?? false }));
  const onRejection = (error: unknown): void => play.crash(error);
  process.on('unhandledRejection', onRejection);
  try {
    await play.run();
    await setImmediate(); // Node tells of a rejection when nothing else is left to be done
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  return play.result();
}

/** No history needs more; one that does never comes to rest. */
const mostSteps = 8000;

class Play {
  readonly #draft: Draft;
  readonly #world: World;
  readonly #site: Site;
  readonly #coverage = new Coverage();
  readonly #clients: readonly Client[];
  readonly #commands: Command[];

  constructor(draft: Draft, core: CoreUnderTest, trace: Trace) {
    this.#draft = draft;
    this.#world = new World(draft.decisions, trace);
    this.#site = new Site(this.#world, core, draft.settings, this.#coverage);
    const desk = new FrontDesk(this.#site);
    this.#clients = Array.from({ length: clientCount }, (_, index) => new Client(this.#site, desk, index));
    this.#commands = [...draft.commands];
    this.#world.addSource(() => this.#nextCommand());
  }

  /** Each act ends when nothing happens any more. From the second on nothing goes wrong. */
  async run(): Promise<void> {
    const acts: readonly (() => void)[] = [
      () => this.#site.startSoon(),
      () => this.#calmDown(),
      () => this.#everybodyComesBack(),
      () => this.#restartAlone(),
      () => this.#unblock(),
      () => this.#unblock(),
    ];
    for (const [index, begin] of acts.entries()) {
      this.#world.trace.line('·', `act ${index + 1}`);
      begin();
      await this.#untilRest();
      if (this.#isOver()) return;
      if (index === 0) continue;
      this.#site.judge.atRest();
      if (index === 2) for (const client of this.#clients) client.judgeAtRest();
      if (this.#isOver()) return;
    }
    while (this.#isBlocked()) {
      this.#unblock();
      await this.#untilRest();
      if (this.#isOver()) return;
    }
    this.#site.judge.atTheEnd();
  }

  /** A rejection that nobody handles would have ended the gateway. */
  crash(error: unknown): void {
    this.#site.judge.breach('bug', `a rejection is handled by nobody: ${String(error)}`);
  }

  result(): Run {
    const { settings, commands, decisions } = this.#draft;
    for (const name of Object.keys(decisions.made.faults)) this.#coverage.add('fault', name.split('#')[0] ?? name);
    return {
      broken: this.#site.judge.broken,
      history: { settings, commands, chances: decisions.made },
      steps: this.#world.steps,
      traceHash: this.#world.trace.hash,
      trace: this.#world.trace.lines,
      coverage: this.#coverage,
      disk: this.#site.disk,
    };
  }

  async #untilRest(): Promise<void> {
    while (!this.#isOver() && (await this.#world.step())) {
      this.#site.clock.advance(1);
      const blow = this.#world.decisions.blowAfter(this.#world.steps, this.#possibleBlows());
      if (blow !== null) this.#strike(blow);
    }
  }

  #isOver(): boolean {
    if (this.#world.steps > mostSteps) this.#site.judge.breach('rest', `no rest after ${mostSteps} steps`);
    return this.#site.judge.broken !== null;
  }

  #possibleBlows(): readonly Blow[] {
    const connected = this.#clients.some((client) => client.connected);
    return [...this.#site.possibleBlows(), ...(connected ? (['hang_up'] as const) : [])];
  }

  #strike(blow: Blow): void {
    this.#coverage.add('blow', blow);
    switch (blow) {
      case 'kill':
        this.#site.kill();
        break;
      case 'kill_all':
        this.#site.kill(this.#site.living);
        break;
      case 'pause':
        this.#site.pause();
        break;
      case 'wake':
        this.#site.wake();
        break;
      case 'stop':
        void this.#site.owner?.drain(0);
        break;
      case 'hang_up':
        this.#clients.find((client) => client.connected)?.hangUp();
        break;
    }
  }

  #nextCommand() {
    const [command] = this.#commands;
    if (command === undefined || !this.#site.living.some(({ serves }) => serves)) return null;
    return {
      owner: null,
      label: `command ${command.do}`,
      run: () => {
        this.#commands.shift();
        this.#perform(command);
      },
    };
  }

  #perform(command: Command): void {
    const { clock, owner } = this.#site;
    if (command.do === 'wait') clock.advance(command.seconds * 1000);
    else if (command.do === 'jump') clock.jump(command.seconds * 1000);
    else if (command.do === 'drain') {
      void owner?.drain(command.drainMs);
      if (command.hurry) void owner?.drain(command.drainMs);
    } else this.#clients[command.client]?.perform(command);
  }

  #calmDown(): void {
    this.#commands.length = 0;
    this.#world.decisions.calmDown();
    this.#site.wake();
  }

  #everybodyComesBack(): void {
    for (const client of this.#clients) {
      client.hangUp();
      client.comeBack();
    }
  }

  #restartAlone(): void {
    for (const client of this.#clients) client.hangUp();
    this.#site.kill(this.#site.living);
  }

  #unblock(): void {
    for (const sessionId of this.#site.view.sessionIds()) this.#clients[0]?.unblock(sessionId);
  }

  #isBlocked(): boolean {
    const { view } = this.#site;
    return [...view.sessionIds()].some(
      (sessionId) =>
        view.session(sessionId)?.held === true ||
        [...view.admissions(sessionId).values()].some(({ status }) => status === 'unknown'),
    );
  }
}
