import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const entry = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

describe('holdfast demo', () => {
  /** The demo's temp folder, so that what it leaves behind is seen. */
  let folder: string;
  let demo: Demo | null = null;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-test-')));
  });

  afterEach(() => {
    demo?.child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  test('tells the journey, ends with 0 and leaves nothing behind', { timeout: 60_000 }, async () => {
    demo = new Demo(folder, []);

    expect(await demo.ended).toEqual({ code: 0, signal: null });
    expect(demo.stderr).toBe('');
    expect(admissionsIn(demo.stdout)).toEqual([
      'filler-1 1 completed completed completed 1',
      'filler-2 2 completed completed completed 1',
      'filler-3 3 completed completed completed 1',
      'leader 4 started unknown interrupted 1',
      'follower-1 5 queued queued completed 1',
      'follower-2 6 queued queued completed 1',
      'follower-3 7 queued queued completed 1',
    ]);
    expect(demo.stdout).not.toContain('FAILED');
    expect(demo.stdout).toMatch(/\nAll \d+ checks hold\.\n$/);
    // eslint-disable-next-line no-control-regex -- it is the character that begins a colour
    expect(demo.stdout).not.toMatch(/\u001b/);
    expect(readdirSync(folder)).toEqual([]);
    expect(demo.gatewayPids.map(isAlive)).toEqual([false, false, false]);
  });

  test('prints one JSON document with the same facts', { timeout: 60_000 }, async () => {
    demo = new Demo(folder, ['--json']);

    expect(await demo.ended).toEqual({ code: 0, signal: null });
    const shown = JSON.parse(demo.stdout) as Shown; // toMatchObject looks at it
    expect(shown).toMatchObject({
      ok: true,
      evidence: { boundary: 'model', step: 1, owner_epoch: 1 },
      gateways: [{ ended: { signal: 'SIGKILL' } }, { ended: { code: 0 } }, { ended: null }],
      compressions: [{ trigger: 'preflight' }],
    });
    expect(shown.admissions.map(({ runs }) => runs)).toEqual([1, 1, 1, 1, 1, 1, 1]);
    expect(new Set(Object.values(shown.lineage).map((chain) => chain.join(' '))).size).toBe(1);
    expect(shown.lineage.at_end).toHaveLength(2);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('that is interrupted ends its gateway and removes its folder', { timeout: 60_000 }, async () => {
    demo = new Demo(folder, []);
    await demo.hasPrinted('filler-1');

    demo.child.kill('SIGINT');

    expect(await demo.ended).toEqual({ code: 130, signal: null });
    expect(demo.stderr).toContain('The demo was stopped');
    expect(readdirSync(folder)).toEqual([]);
    expect(demo.gatewayPids.map(isAlive)).toEqual([false]);
  });

  test('whose gateway cannot start keeps its folder and says where it is', { timeout: 60_000 }, async () => {
    demo = new Demo(folder, [], { HOLDFAST_FAILPOINTS: 'recovery.after:kill' });

    expect(await demo.ended).toEqual({ code: 69, signal: null });
    const [kept = 'none'] = readdirSync(folder);
    expect(demo.stderr).toContain(`kept, with gateway.log in it: ${join(folder, kept)}`);
    expect(readdirSync(join(folder, kept))).toEqual(expect.arrayContaining(['config.yaml', 'gateway.log', 'state.db']));
  });
});

interface Shown {
  readonly admissions: readonly { readonly runs: number }[];
  readonly lineage: Readonly<Record<'before_kill' | 'after_restart' | 'at_end', readonly string[]>>;
}

/** The built command as a process. */
class Demo {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  stdout = '';
  stderr = '';
  #wake = (): void => undefined;

  constructor(folder: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [entry, 'demo', ...args], {
      env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString('utf8');
      this.#wake();
    });
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString('utf8');
    });
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        resolve({ code, signal });
      });
    });
  }

  async hasPrinted(text: string): Promise<void> {
    while (!this.stdout.includes(text)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  get gatewayPids(): readonly number[] {
    return [...this.stdout.matchAll(/^ {3}gateway +process (\d+), epoch/gm)].map(([, pid]) => Number(pid));
  }
}

/** The rows of the table, without the ids, which are new each time. */
function admissionsIn(stdout: string): readonly string[] {
  const table = stdout.split('\nAdmissions\n')[1]?.split('\n\n')[0] ?? '';
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .map((cells) => cells.filter((_, column) => column !== 1).join(' '));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
