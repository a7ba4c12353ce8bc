import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { exitCodes } from '../../config/exit-codes.ts';
import { readGatewayFile } from '../../config/gateway-file.ts';
import { CliFailure } from '../failure.ts';

/** How a process ended: with an exit code, or by a signal. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A machine under load takes its time to start a process. */
const longestStartMs = 60_000;

/** One `holdfast serve` as a process of its own. */
export class GatewayProcess {
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  readonly #home: string;
  readonly #log: string;

  constructor(home: string) {
    this.#home = home;
    this.#log = join(home, 'gateway.log');
    // The log goes to a file and not through this process: it is there after a failure too, and a full pipe stops nobody.
    const log = openSync(this.#log, 'a', 0o600);
    const args = [...process.execArgv, commandLine, 'serve', '--home', home];
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', log, log] });
    closeSync(log);
    // Whatever ends this process by a fault of its own ends the other one as well.
    const kill = (): void => void this.#child.kill('SIGKILL');
    process.once('exit', kill);
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        process.off('exit', kill);
        resolve({ code, signal });
      };
      this.#child.once('error', () => {
        end(null, null);
      });
      this.#child.once('exit', end);
    });
  }

  /** Zero when the process could not even be made. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Waits until it takes clients. */
  async ready(): Promise<void> {
    const deadlineMs = performance.now() + longestStartMs;
    const ended = this.ended.then(() => 'ended' as const);
    for (;;) {
      const found = readGatewayFile(this.#home);
      if (found.kind === 'found' && found.gateway.pid === this.pid && found.gateway.state === 'ready') return;
      if ((await Promise.race([ended, sleep(20)])) === 'ended') throw this.#failure('ended before it was ready');
      if (performance.now() > deadlineMs) throw this.#failure('was not ready in time');
    }
  }

  /** Sends it a signal and waits for its end. */
  async end(signal: NodeJS.Signals): Promise<ProcessEnd> {
    this.#child.kill(signal);
    return this.ended;
  }

  #failure(what: string): CliFailure {
    const log = readFileSync(this.#log, 'utf8').trimEnd().split('\n').slice(-20).join('\n');
    return new CliFailure(exitCodes.unreachable, 'no_gateway', `The gateway ${what}. Its log ends with:\n${log}`);
  }
}

/** The entry of the command line that this file is part of, built or not. */
const commandLine = fileURLToPath(new URL(`../main${extname(import.meta.url)}`, import.meta.url));
