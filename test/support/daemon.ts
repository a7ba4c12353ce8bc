import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RawClient } from './raw-client.ts';

/** The built program; HOLDFAST_TEST_ENTRY names another build of it. */
const entry = process.env['HOLDFAST_TEST_ENTRY'] ?? fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** A home folder of its own for one test. */
export class TestHome {
  readonly path: string;

  constructor(config: unknown) {
    this.path = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
    this.configure(config);
  }

  get database(): string {
    return join(this.path, 'state.db');
  }

  /** YAML is a superset of JSON. */
  configure(config: unknown): void {
    writeFileSync(join(this.path, 'config.yaml'), JSON.stringify(config, null, 2));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The built daemon, as a real process. */
export class Daemon {
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  #output = '';

  private constructor(child: ChildProcess) {
    this.child = child;
    const gather = (chunk: Buffer): void => {
      this.#output += chunk.toString('utf8');
    };
    child.stdout?.on('data', gather);
    child.stderr?.on('data', gather);
    this.exited = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        resolve({ code, signal });
      });
    });
  }

  /** Starts it without waiting for anything. */
  static spawn(
    home: TestHome,
    environment: Readonly<Record<string, string>> = {},
    args: readonly string[] = [],
  ): Daemon {
    const child = spawn(process.execPath, [entry, 'serve', '--home', home.path, ...args], {
      env: { PATH: process.env['PATH'], HOME: home.path, OPENAI_API_KEY: 'sk-test-key', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new Daemon(child);
  }

  /** Starts it and waits until it is ready for clients. */
  static async start(home: TestHome, environment: Readonly<Record<string, string>> = {}): Promise<Daemon> {
    const daemon = Daemon.spawn(home, environment);
    await daemon.ready(home);
    return daemon;
  }

  get output(): string {
    return this.#output;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async ready(home: TestHome, timeoutMs = 30_000): Promise<GatewayFile> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const file = gatewayFile(home);
      if (file?.pid === this.pid && file.state === 'ready') return file;
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`the daemon ended before it was ready:\n${this.#output}`);
      }
      if (Date.now() > deadline) throw new Error(`the daemon was not ready in time:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 10)); // the file is the only announcement there is
    }
  }

  async kill(signal: NodeJS.Signals): Promise<Exit> {
    this.child.kill(signal);
    return this.exited;
  }
}

export interface GatewayFile {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly state: string;
  readonly epoch: number;
  readonly instance_id: string;
}

export function gatewayFile(home: TestHome): GatewayFile | null {
  const path = join(home.path, 'gateway.json');
  if (!existsSync(path)) return null;
  return JSON.parse(readFileSync(path, 'utf8')) as GatewayFile; // written by the daemon under test
}

export async function connect(home: TestHome): Promise<RawClient> {
  const file = gatewayFile(home);
  if (file === null) throw new Error('no gateway.json');
  return RawClient.connect(file.url, file.token);
}
