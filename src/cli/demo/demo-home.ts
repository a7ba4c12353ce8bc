import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '../../config/exit-codes.ts';
import { homeFiles } from '../../config/home-files.ts';
import { CliFailure } from '../failure.ts';
import { GatewayProcess } from './gateway-process.ts';

/** A home folder for one demo, and the processes that ran in it. */
export class DemoHome {
  readonly path: string;
  #newest: GatewayProcess | null = null;
  #isClosed = false;

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
    writeFileSync(join(this.path, homeFiles.config), config, { mode: 0o600 });
  }

  /** Starts a process on the home and waits until it takes clients. One at a time. */
  async start(): Promise<GatewayProcess> {
    if (this.#isClosed) throw new CliFailure(exitCodes.interrupted, 'interrupted', 'The demo was stopped.');
    const started = new GatewayProcess(this.path);
    this.#newest = started;
    await started.ready();
    return started;
  }

  /** Ends the process that still runs, if any, and removes the folder unless somebody has to look into it. */
  async close({ keep }: { readonly keep: boolean }): Promise<void> {
    this.#isClosed = true;
    await this.#newest?.end('SIGKILL');
    if (!keep) rmSync(this.path, { recursive: true, force: true });
  }
}

const config = `# Made by "holdfast demo".
model:
  provider: demo             # built in: no network, no key
compression:
  threshold_tokens: 3000     # a small limit, so that three answers reach it
  protect_first_n: 1
  protect_last_n: 2
shutdown:
  drain_seconds: 1
`;
