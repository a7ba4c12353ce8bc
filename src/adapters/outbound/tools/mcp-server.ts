import type { Clock } from '../../../core/ports/clock.ts';
import type { Logger } from '../../../core/ports/logger.ts';
import type { ToolOutcome, ToolServerHealth } from '../../../core/ports/tool-host.ts';
import { backOffMs, hasGivenUp } from './back-off.ts';
import { ConnectionError, type CallAnswer, type Connection, type OpenConnection } from './connection.ts';
import type { ListedTool } from './listed-tools.ts';
import type { McpServerOptions } from './mcp-server-options.ts';
import { renderToolResult } from './tool-output.ts';
import { untilAborted } from './until-aborted.ts';

/**
 * One configured server: started when it is first needed, started anew when it is needed after a crash.
 *
 * I1: At most one start is under way. All who need the server wait for that one, and none of them can abort it.
 * I2: A call is sent at most once, on one connection. What is not known to have failed before it was sent counts as
 *     possibly done.
 * I3: A call that was aborted or timed out ends within `cancelGraceMs` plus the time that a process takes to be killed,
 *     whatever the server does. Unless the server has shown that it stopped the work, its connection is retired.
 * I4: A retired connection gets no new call. It is stopped when its last call ends, so one session's stop never breaks
 *     another session's call.
 */

export interface McpServerDependencies {
  readonly open: OpenConnection;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a server has to answer a cancelled call before it is taken for one that goes on. */
const cancelGraceMs = 1_000;
/** How long a caller waits for the end of a back-off, at most. */
const patienceMs = 5_000;
/** A server that ran this long before it crashed had no bad start. */
const steadyMs = 60_000;

interface Unavailable {
  readonly unavailable: string;
}

const stopping: Unavailable = { unavailable: 'the gateway is stopping' };

export class McpServer {
  readonly #options: McpServerOptions;
  readonly #open: OpenConnection;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  #connection: Live | null = null;
  #starting: Promise<Live | Unavailable> | null = null;
  /** Everything that may have a process, retired ones too. */
  readonly #alive = new Set<Live>();
  /** A new process waits for it: the old one may hold a lock or a port. */
  #lastStop: Promise<void> = Promise.resolve();
  #starts = 0;
  /** In a row, up to now. */
  #failures = 0;
  #failedAtMs = 0;
  #isBackingOff = false;
  #lastError: string | null = null;

  constructor(options: McpServerOptions, { open, clock, logger }: McpServerDependencies) {
    this.#options = options;
    this.#open = open;
    this.#clock = clock;
    this.#logger = logger;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Empty when the server can't be reached; `health` says why. */
  async tools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    const live = await this.#acquire(signal);
    if (live === 'aborted' || 'unavailable' in live) return [];
    const tools = await untilAborted(live.connection.tools(), signal);
    return tools === 'aborted' ? [] : tools;
  }

  async call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolOutcome> {
    const live = await this.#acquire(signal);
    if (live === 'aborted' || signal.aborted) return this.#broken('aborted', 'was stopped before it was sent', true);
    if ('unavailable' in live) return this.#broken('unavailable', `was not sent, because ${live.unavailable}`, true);
    live.calls += 1;
    try {
      return await this.#callOn(live, tool, args, signal);
    } finally {
      live.calls -= 1;
      if (live.isRetired && live.calls === 0) {
        this.#lastStop = live.connection.stop('now');
        await this.#lastStop;
      }
    }
  }

  health(): ToolServerHealth {
    return {
      server: this.name,
      state: this.#state(),
      tools: this.#connection?.connection.toolCount ?? null,
      restarts: Math.max(0, this.#starts - 1),
      lastError: this.#lastError,
    };
  }

  /** Stops whatever runs, in any state. Calls that are under way end as broken. */
  async close(): Promise<void> {
    this.#closing.abort(new ConnectionError(stopping.unavailable));
    await this.#starting?.catch(() => undefined);
    this.#connection = null;
    await Promise.all([...this.#alive].map(({ connection }) => connection.stop('politely')));
  }

  #state(): ToolServerHealth['state'] {
    if (this.#connection !== null) return 'ready';
    if (this.#starting !== null && !this.#isBackingOff) return 'starting';
    if (this.#failures === 0) return 'idle';
    return hasGivenUp(this.#failures) ? 'failed' : 'backing_off';
  }

  async #callOn(
    live: Live,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const cancel = new AbortController();
    const over = new AbortController();
    const answering = live.connection.call(tool, args, cancel.signal);
    const timeout = this.#clock.sleep(this.#options.timeoutMs, over.signal).then(() => 'timeout' as const);
    const first = await untilAborted(Promise.race([answering, timeout]), signal);
    over.abort();
    if (typeof first === 'object') return this.#outcomeOf(first, live);
    cancel.abort();
    if (!(await live.connection.heedsCancels(cancelGraceMs))) this.#retire(live);
    if (first === 'aborted') return this.#broken('aborted', 'was stopped', false);
    return this.#broken('timeout', `did not end within ${this.#options.timeoutMs} ms`, false);
  }

  #outcomeOf(answer: CallAnswer, live: Live): ToolOutcome {
    switch (answer.kind) {
      case 'result':
        this.#failures = 0;
        return { kind: 'answered', ...renderToolResult(answer.result, this.#options.maxOutputBytes) };
      case 'refused':
        this.#failures = 0;
        return { kind: 'answered', text: `${answer.message} (JSON-RPC error ${answer.code})`, isError: true };
      case 'too_large':
        return this.#broken('output_too_large', 'gave more output than can be taken', false);
      case 'lost':
        if (answer.broken) this.#fail(live, answer.why);
        else this.#retire(live);
        return this.#broken('unavailable', `got no answer, because ${answer.why}`, answer.notStarted);
    }
  }

  async #acquire(signal: AbortSignal): Promise<Live | Unavailable | 'aborted'> {
    if (signal.aborted) return 'aborted';
    if (this.#closing.signal.aborted) return stopping;
    if (this.#connection !== null) return this.#connection;
    if (this.#starting === null) {
      const waitMs = this.#failedAtMs + backOffMs(this.#failures) - this.#clock.monotonicMs();
      if (this.#failures > 0 && waitMs > patienceMs) {
        return { unavailable: `${this.#lastError} (next try in ${Math.ceil(waitMs / 1_000)} s)` };
      }
      this.#starting = this.#start(this.#failures > 0 ? waitMs : 0).finally(() => (this.#starting = null));
    }
    return untilAborted(this.#starting, signal);
  }

  /** Never rejects for what a server does. */
  async #start(waitMs: number): Promise<Live | Unavailable> {
    if (waitMs > 0) {
      this.#isBackingOff = true;
      await this.#clock.sleep(waitMs, this.#closing.signal);
      this.#isBackingOff = false;
    }
    await this.#lastStop;
    if (this.#closing.signal.aborted) return stopping;
    this.#starts += 1;
    const { startupTimeoutMs } = this.#options;
    const late = new AbortController();
    const started = new AbortController();
    void this.#clock.sleep(startupTimeoutMs, started.signal).then(() => {
      late.abort(new ConnectionError(`it was not ready within ${startupTimeoutMs} ms`));
    });
    try {
      const connection = await this.#open(AbortSignal.any([this.#closing.signal, late.signal]));
      return this.#welcome(connection);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      if (!this.#closing.signal.aborted) this.#countFailure(error.message);
      return { unavailable: error.message };
    } finally {
      started.abort();
    }
  }

  #welcome(connection: Connection): Live {
    const live: Live = { connection, startedAtMs: this.#clock.monotonicMs(), calls: 0, isRetired: false };
    this.#connection = live;
    this.#alive.add(live);
    this.#lastError = null;
    this.#logger.debug('tool server is ready', { server: this.name, tools: connection.toolCount });
    void connection.closed.then((why) => {
      this.#alive.delete(live);
      this.#fail(live, why);
    });
    return live;
  }

  /** The connection is of no use any more, and it is the server's fault. Only the first to say so is heard. */
  #fail(live: Live, why: string): void {
    if (!this.#retire(live) || this.#closing.signal.aborted) return;
    if (this.#clock.monotonicMs() - live.startedAtMs >= steadyMs) this.#failures = 0;
    this.#countFailure(why);
  }

  #countFailure(why: string): void {
    this.#failures += 1;
    this.#failedAtMs = this.#clock.monotonicMs();
    this.#lastError = why;
    this.#logger.warn('tool server has failed', { server: this.name, reason: why, failuresInARow: this.#failures });
  }

  /** False when it was retired before. */
  #retire(live: Live): boolean {
    if (live.isRetired) return false;
    live.isRetired = true;
    if (this.#connection === live) this.#connection = null;
    return true;
  }

  #broken(reason: Extract<ToolOutcome, { kind: 'broken' }>['reason'], what: string, notStarted: boolean): ToolOutcome {
    const effect = notStarted ? 'it had no effect' : 'whether it had an effect is unknown';
    const message = `The call to the tool server "${this.name}" ${what}; ${effect}.`;
    return { kind: 'broken', reason, message, notStarted };
  }
}

interface Live {
  readonly connection: Connection;
  readonly startedAtMs: number;
  calls: number;
  isRetired: boolean;
}
