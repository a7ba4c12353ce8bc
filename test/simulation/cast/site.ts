import type { CoreUnderTest } from '../core-under-test.ts';
import type { Coverage } from '../coverage.ts';
import type { Settings } from '../history/settings.ts';
import { Judge } from '../judge/judge.ts';
import { Disk } from '../ports/disk.ts';
import type { Write } from '../ports/disk.ts';
import { ModelServer } from '../ports/model-server.ts';
import { ToolServer, toolTokens } from '../ports/tool-server.ts';
import { viewOf } from '../ports/store-view.ts';
import type { StoreView } from '../judge/rows.ts';
import type { Blow } from '../world/decisions.ts';
import { SimulatedClock } from '../world/simulated-clock.ts';
import type { World } from '../world/world.ts';
import { GatewayProcess } from './gateway-process.ts';

/** A machine with a disk, the processes that come and go on it, and the model servers that they ask. */
export class Site {
  readonly world: World;
  readonly core: CoreUnderTest;
  readonly settings: Settings;
  readonly coverage: Coverage;
  readonly clock: SimulatedClock;
  readonly disk: Disk;
  readonly view: StoreView;
  readonly judge: Judge;
  readonly server: ModelServer;
  readonly tools: ToolServer;
  readonly #sessionOfModel = new Map<string, string>();
  readonly #processes: GatewayProcess[] = [];
  readonly #onReady: ((process: GatewayProcess) => void)[] = [];
  readonly #onEnd: ((process: GatewayProcess) => void)[] = [];
  #started = 0;
  #starting = false;

  constructor(world: World, core: CoreUnderTest, settings: Settings, coverage: Coverage) {
    this.world = world;
    this.core = core;
    this.settings = settings;
    this.coverage = coverage;
    this.clock = new SimulatedClock(world);
    this.disk = new Disk(core, { durable: (write) => this.#durable(write) });
    this.view = viewOf(this.disk.tables);
    this.judge = new Judge(
      this.view,
      { ...settings, smallWindowTokens: settings.windowTokens * settings.smallShare, toolTokens },
      () => world.steps,
    );
    this.tools = new ToolServer({ world, clock: this.clock, judge: this.judge });
    this.server = new ModelServer({
      world,
      clock: this.clock,
      judge: this.judge,
      traits: {
        windowTokens: settings.windowTokens * settings.serverShare,
        smallShare: settings.smallShare,
        statesWindow: settings.statesWindow,
        repeatsCallIds: settings.repeatsCallIds,
        lastFault: 0,
      },
      sessionOfModel: this.#sessionOfModel,
    });
  }

  /** The processes that live, the newest last. */
  get living(): readonly GatewayProcess[] {
    return this.#processes.filter(({ alive }) => alive);
  }

  get owner(): GatewayProcess | null {
    return this.living.at(-1) ?? null;
  }

  onReady(listener: (process: GatewayProcess) => void): void {
    this.#onReady.push(listener);
  }

  onEnd(listener: (process: GatewayProcess) => void): void {
    this.#onEnd.push(listener);
  }

  /** Whoever supervises the daemon starts it soon. */
  startSoon(): void {
    if (this.#starting) return;
    this.#starting = true;
    this.world.add(null, 'the supervisor starts the gateway', () => {
      this.#starting = false;
      this.#start();
    });
  }

  /** Which blows make sense now. A kill during the start is named more than once, so that it is drawn more often. */
  possibleBlows(): readonly Blow[] {
    const blows: Blow[] = [];
    const owner = this.owner;
    if (owner !== null && !owner.frozen) blows.push('kill');
    if (owner?.phase === 'booting' && !owner.frozen) blows.push('kill', 'kill', 'kill');
    if (owner?.frozen === false && owner.phase !== 'booting' && this.living.length === 1) blows.push('pause');
    if (owner !== null) blows.push('kill_all');
    if (this.living.some(({ frozen }) => frozen)) blows.push('wake');
    if (owner?.isRecovering === true && !owner.frozen) blows.push('stop');
    return blows;
  }

  kill(processes: readonly GatewayProcess[] = this.living.slice(-1)): void {
    for (const process of processes) {
      for (const label of this.world.waitingFor(process)) this.coverage.add('crash at', placeOf(label));
      this.world.trace.line(process.name, '✝ killed');
      process.alive = false;
    }
    const { unsyncedCount } = this.disk;
    // What a process has written is lost with it only where nobody else waits for the same sync.
    const most = this.living.length === 0 ? unsyncedCount : 0;
    if (unsyncedCount > 0) this.disk.crash(this.#fault('lost', most + 1));
    this.#buried(processes);
  }

  pause(): void {
    const { owner } = this;
    if (owner === null) return;
    this.world.trace.line(owner.name, '⏸ frozen');
    owner.frozen = true;
    this.startSoon();
  }

  wake(): void {
    for (const process of this.living) {
      if (!process.frozen) continue;
      this.world.trace.line(process.name, '▶ goes on');
      process.frozen = false;
    }
  }

  /** A process has ended by itself: what it wrote is with the operating system and gets to the disk. */
  end(process: GatewayProcess): void {
    process.alive = false;
    if (this.living.length === 0) this.disk.crash(0);
    this.#buried([process]);
  }

  ready(process: GatewayProcess): void {
    for (const listener of this.#onReady) listener(process);
  }

  #start(): void {
    this.#started += 1;
    const { limboCount } = this.disk;
    if (limboCount > 0) this.disk.open(this.#fault('limbo', limboCount + 1));
    const process = new GatewayProcess(this, `p${this.#started}`);
    this.#processes.push(process);
    void process.boot();
  }

  #buried(processes: readonly GatewayProcess[]): void {
    this.world.bury();
    this.clock.bury();
    for (const process of processes) for (const listener of this.#onEnd) listener(process);
    if (!this.living.some((process) => this.#isCurrent(process))) this.startSoon();
  }

  /** Whether the process owns the store or is about to. */
  #isCurrent({ frozen, phase, epoch }: GatewayProcess): boolean {
    return !frozen && (phase === 'booting' || epoch === this.view.epoch());
  }

  #fault(name: string, options: number): number {
    return options < 2 ? 0 : this.world.decisions.fault(name, options);
  }

  #durable(write: Write): void {
    if (write.kind === 'ownership') {
      this.judge.store.ownerChanged();
      return;
    }
    const { sessionId, events } = write.request;
    for (const event of events) {
      this.coverage.add('event', event.type);
      if (event.type === 'session.created') this.#sessionOfModel.set(event.profile.model, sessionId);
      if (event.type === 'session.updated' && event.changes.model !== undefined) {
        this.#sessionOfModel.set(event.changes.model.model, sessionId);
      }
      if (event.type === 'turn.settled') {
        this.coverage.add('outcome', event.outcome);
        if (event.failure !== null) this.coverage.add('failure', event.failure.reason);
      }
    }
    this.judge.store.sessionChanged(sessionId, events);
  }
}

/** The kind of place at which a crash found a task waiting. */
function placeOf(label: string): string {
  if (label === 'sync') return 'append: written, not synced';
  const append = /^append \S+ \d+ (.*) (✎|↩.*)$/u.exec(label);
  if (append !== null) {
    const types = (append[1] ?? '').split(' ');
    const main = types.find((type) => type !== 'message.appended') ?? 'message.appended';
    return `append: ${append[2] === '✎' ? 'not written' : 'durable, not answered'}: ${main}`;
  }
  return label
    .replace(/request \d+/u, 'request')
    .replace(/ p\d+-\d+/gu, '')
    .replace(/ \d+/gu, '');
}
