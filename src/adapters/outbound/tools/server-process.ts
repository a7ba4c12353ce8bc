import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Clock } from '../../../core/ports/clock.ts';

/**
 * A server's process and everything that it starts.
 *
 * I1: The child leads a process group of its own, and signals go to the group. A grandchild is out of reach only if it
 *     leaves the group on purpose.
 * I2: When the child ends, for whatever reason, what is left of its group is killed.
 * I3: Nothing here waits for a pipe that a stranger may hold open.
 */

export interface ProcessCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface ProcessSinks {
  readonly onStdout: (chunk: Buffer) => void;
  readonly onStderr: (chunk: Buffer) => void;
}

/** How long a child has to obey, before the next means is used. */
const closedInputMs = 500;
const sigtermMs = 500;
const sigkillMs = 250;
/** How long after the child's end its output may take to arrive (I3). */
const drainMs = 250;

/** The message is for people and holds nothing of the command: arguments may be secrets. */
export class ProcessStartError extends Error {}

export class ServerProcess {
  readonly pid: number;
  /** Resolves once, with what happened, when the child has ended and its output has been read. It never rejects. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #clock: Clock;
  /** From then on the number may belong to somebody else's group. */
  #groupIsGone = false;

  static async start(command: ProcessCommand, sinks: ProcessSinks, clock: Clock): Promise<ServerProcess> {
    const child = spawnGroup(command);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      // It also tells of signals that could not be delivered, which is why it stays after the start.
      child.on('error', (error) => reject(startError(error)));
    });
    if (child.pid === undefined) throw new ProcessStartError("its process can't be started (it has no number)");
    return new ServerProcess(child, child.pid, sinks, clock);
  }

  private constructor(child: ChildProcessWithoutNullStreams, pid: number, sinks: ProcessSinks, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    this.pid = pid;
    child.stdout.on('data', sinks.onStdout);
    child.stderr.on('data', sinks.onStderr);
    // A pipe breaks when the child ends, and `ended` tells of that.
    for (const stream of child.stdio.slice(0, 3)) stream?.on('error', () => undefined);
    this.ended = this.#awaitEnd();
  }

  /** Rejects when the child reads no more. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#child.stdin.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Resolves when the child is gone, after 1.25 s at the latest. `politely` lets it finish what it does first. */
  async stop(manner: 'politely' | 'now'): Promise<void> {
    this.#child.stdin.end();
    if (manner === 'politely' && (await this.#endsWithin(closedInputMs))) return;
    this.#signal('SIGTERM');
    if (await this.#endsWithin(sigtermMs)) return;
    this.#signal('SIGKILL');
    await this.#endsWithin(sigkillMs);
  }

  async #awaitEnd(): Promise<string> {
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    const description = await new Promise<string>((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#signal('SIGKILL');
        this.#groupIsGone = true;
        resolve(signal === null ? `its process ended with code ${code}` : `its process was ended by ${signal}`);
      });
    });
    await this.#within(closed, drainMs);
    for (const stream of this.#child.stdio.slice(0, 3)) stream?.destroy();
    return description;
  }

  #endsWithin(ms: number): Promise<boolean> {
    return this.#within(this.ended, ms);
  }

  async #within(event: Promise<unknown>, ms: number): Promise<boolean> {
    const waiting = new AbortController();
    const happened = event.then(() => true);
    const late = this.#clock.sleep(ms, waiting.signal).then(() => false);
    const result = await Promise.race([happened, late]);
    waiting.abort();
    return result;
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#groupIsGone) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      // The group is empty, or the platform has no groups: then the child alone is what can be reached.
      this.#child.kill(signal);
    }
  }
}

function spawnGroup({ command, args, env, cwd }: ProcessCommand): ChildProcessWithoutNullStreams {
  try {
    return spawn(command, args, {
      env,
      ...(cwd === undefined ? {} : { cwd }),
      detached: true,
      shell: false,
      windowsHide: true,
      stdio: 'pipe',
    });
  } catch (error) {
    throw startError(error);
  }
}

function startError(error: unknown): ProcessStartError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
  return new ProcessStartError(`its process can't be started (${code})`, { cause: error });
}
