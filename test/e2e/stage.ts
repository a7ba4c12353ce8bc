import { onTestFinished } from 'vitest';
import { DaemonLog } from '../support/daemon-log.ts';
import { Daemon, TestHome, connect } from '../support/daemon.ts';
import { LoopbackModel } from '../support/loopback-model/loopback-model.ts';
import type { RawClient } from '../support/raw-client.ts';

type Environment = Readonly<Record<string, string>>;
type AtTheEnd = (end: () => Promise<void>) => void;

/** A daemon and its log. */
export interface Running {
  readonly daemon: Daemon;
  readonly log: DaemonLog;
}

export interface Receipt {
  readonly admission_id: string;
  readonly session_id: string;
  readonly input_id: string;
  readonly sequence: number;
  readonly ahead: number;
  readonly status: string;
  readonly outcome: string | null;
  readonly execution_generation: number | null;
  readonly duplicate: boolean;
  readonly blocked_by: readonly string[];
}

/** A model server and whatever homes, daemons and clients a test starts. All of it is ended when the test is over. */
export class Stage {
  readonly model: LoopbackModel;
  readonly #daemons: Daemon[] = [];
  readonly #homes: TestHome[] = [];
  readonly #clients: RawClient[] = [];

  private constructor(model: LoopbackModel) {
    this.model = model;
  }

  /** A test that runs beside others passes its own context's `onTestFinished`. */
  static async begin(atTheEnd: AtTheEnd = onTestFinished): Promise<Stage> {
    const stage = new Stage(await LoopbackModel.start());
    atTheEnd(() => stage.#end());
    return stage;
  }

  /** A home whose model is this stage's. */
  home(more: Readonly<Record<string, unknown>> = {}): TestHome {
    const home = new TestHome({ model: this.modelSection, shutdown: { drain_seconds: 0.2 }, ...more });
    this.#homes.push(home);
    return home;
  }

  get modelSection(): Readonly<Record<string, unknown>> {
    return { provider: 'custom', default: 'test-model', base_url: this.model.url, context_length: 64_000 };
  }

  /** Starts a daemon and waits for nothing. */
  spawn(home: TestHome, environment: Environment = {}, args: readonly string[] = []): Running {
    const daemon = Daemon.spawn(home, environment, args);
    this.#daemons.push(daemon);
    return { daemon, log: new DaemonLog(daemon) };
  }

  /** Starts a daemon and waits until it serves. */
  async start(home: TestHome, environment: Environment = {}): Promise<Running> {
    const running = this.spawn(home, environment);
    await running.daemon.ready(home);
    return running;
  }

  async connect(home: TestHome): Promise<RawClient> {
    const client = await connect(home);
    this.#clients.push(client);
    return client;
  }

  async #end(): Promise<void> {
    for (const client of this.#clients) client.close();
    for (const daemon of this.#daemons) {
      if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.kill('SIGKILL');
    }
    await this.model.close();
    for (const home of this.#homes) home.remove();
  }
}

export async function createSession(client: RawClient): Promise<string> {
  const { session_id } = await client.call<{ session_id: string }>('session.create', { source: 'test' });
  return session_id;
}

export function submit(client: RawClient, session_id: string, text: string, input_id = text): Promise<Receipt> {
  return client.call<Receipt>('prompt.submit', { session_id, input_id, text });
}

/** Waits until a prompt has ended or its fate is unknown. */
export function settled(client: RawClient, session_id: string, input_id: string): Promise<Receipt> {
  return client.call<Receipt>('prompt.wait', { session_id, input_id, timeout_ms: 60_000 });
}
