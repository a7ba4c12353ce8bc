import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { markPath, readMark } from '../../../src/adapters/outbound/sqlite/high-water-mark.ts';
import type { Daemon, TestHome } from '../../support/daemon.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';

/* `holdfast backup` and `holdfast restore` as an operator uses them: the ways back after RELIABILITY F29 to F36. */

const entry = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

let stage: Stage;
let home: TestHome;
let daemon: Daemon;
let client: RawClient;
let session: string;
let backup: string;

beforeEach(async () => {
  stage = await Stage.begin();
  home = stage.home();
  backup = join(dirname(home.path), `${basename(home.path)}-monday.db`);
  onTestFinished(() => {
    rmSync(backup, { force: true });
  });
  ({ daemon } = await stage.start(home));
  client = await stage.connect(home);
  session = await createSession(client);
  await submit(client, session, 'before');
  await settled(client, session, 'before');
});

describe('a backup', () => {
  it('that is made while the gateway works is whole, for its owner only, and replaces nothing', async () => {
    const [made] = await Promise.all([
      holdfast('backup', backup, '--json'),
      ...['a', 'b', 'c'].map((text) => submit(client, session, text)),
    ]);

    expect(made).toMatchObject({ code: 0, json: { path: backup } });
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    const content = readFileSync(backup);
    const again = await holdfast('backup', backup, '--json');
    expect(again.code).not.toBe(0);
    expect(readFileSync(backup).equals(content)).toBe(true);
    expect(await settled(client, session, 'c')).toMatchObject({ outcome: 'completed' });
  });

  it('is made without a gateway too', async () => {
    await daemon.kill('SIGTERM');

    expect(await holdfast('backup', backup, '--json')).toMatchObject({ code: 0, json: { path: backup } });
  });

  it('brings a damaged home back: every receipt of before, another store id, and fresh snapshots', async () => {
    const { store_id: oldStore } = await client.call<{ store_id: string }>('gateway.status');
    const { json: made } = await holdfast('backup', backup, '--json');
    await submit(client, session, 'after');
    const { outcome } = await settled(client, session, 'after');
    const receipt = await submit(client, session, 'before');
    await markedBeyond(Number(made['commits']));
    await daemon.kill('SIGKILL');
    writeFileSync(home.database, Buffer.alloc(8_192, 7));
    const refused = stage.spawn(home).daemon;
    expect(await refused.exited).toEqual({ code: 74, signal: null });
    expect(refused.output).toContain('holdfast restore');

    const restored = await holdfast('restore', backup, '--json');

    expect(restored).toMatchObject({
      code: 0,
      json: { restored_from: backup, missing: { until: expect.any(Number) as number } },
    });
    await stage.start(home);
    const again = await stage.connect(home);
    expect(await submit(again, session, 'before')).toMatchObject({ ...receipt, duplicate: true });
    const { store_id } = await again.call<{ store_id: string }>('gateway.status');
    expect([store_id === oldStore, store_id]).toEqual([false, restored.json['store_id']]);
    const { error } = await again.request('session.subscribe', {
      session_id: session,
      after_seq: 1,
      store_id: oldStore,
    });
    expect(error?.data).toMatchObject({ reason: 'snapshot_required' });
    // What came after the backup is gone, in the open: its id is a fresh one, and its prompt runs.
    expect(outcome).toBe('completed');
    expect(await submit(again, session, 'after')).toMatchObject({ duplicate: false });
    expect(await settled(again, session, 'after')).toMatchObject({ outcome: 'completed' });
    expect(existsSync(String(restored.json['kept_in']))).toBe(true);
  });

  it('is not put back while a gateway has the home, nor when it is no store', async () => {
    expect((await holdfast('backup', backup)).code).toBe(0);
    expect((await holdfast('restore', backup)).code).toBe(75);
    await daemon.kill('SIGTERM');
    const content = readFileSync(home.database);
    const other = join(home.path, 'notes.txt');
    writeFileSync(other, 'These are notes. '.repeat(1_000));

    for (const file of [other, join(home.path, 'nothing.db')]) expect((await holdfast('restore', file)).code).toBe(74);

    expect(readFileSync(home.database).equals(content)).toBe(true);
  });
});

describe('a loss', () => {
  it('that is accepted makes another store of what is left, which serves', async () => {
    await daemon.kill('SIGKILL');
    rmSync(`${home.database}-wal`);
    const refused = stage.spawn(home).daemon;
    expect(await refused.exited).toEqual({ code: 74, signal: null });

    const accepted = await holdfast('restore', '--accept-loss', '--json');

    expect(accepted).toMatchObject({ code: 0, json: { restored_from: null } });
    await stage.start(home);
    const again = await stage.connect(home);
    const fresh = await createSession(again);
    await submit(again, fresh, 'first');
    expect(await settled(again, fresh, 'first')).toMatchObject({ outcome: 'completed' });
  });
});

/** Waits until the mark beside the database knows of later commits, as it does after a second. */
async function markedBeyond(commits: number): Promise<void> {
  await vi.waitFor(
    () => {
      const found = readMark(markPath(home.path));
      expect(found.kind === 'found' && found.mark.commits > commits).toBe(true);
    },
    { timeout: 30_000, interval: 50 },
  );
}

interface Ended {
  readonly code: number;
  readonly json: Readonly<Record<string, unknown>>;
  readonly output: string;
}

/** The command, on this test's home. */
function holdfast(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [entry, ...args, '--home', home.path], (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code);
      const json = stdout.startsWith('{') ? (JSON.parse(stdout) as Ended['json']) : {}; // one document
      resolve({ code, json, output: stdout + stderr });
    });
  });
}
