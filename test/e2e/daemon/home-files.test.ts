import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { gatewayFile } from '../../support/daemon.ts';
import type { GatewayFile, TestHome } from '../../support/daemon.ts';
import { makeGate, parked, textAnswer } from '../../support/loopback-model/answers.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';

describe('gateway.json', () => {
  it('says starting, ready and draining, is for its owner only, and is gone after a clean stop', async () => {
    const stage = await Stage.begin();
    const home = stage.home({ shutdown: { drain_seconds: 3600 } });
    const gate = makeGate();
    stage.model.enqueue(parked(gate, textAnswer('the answer')));

    const { daemon, log } = stage.spawn(home, { HOLDFAST_FAILPOINTS: 'recovery.before:delay=500' });
    await log.line('starting');
    const starting = announcement(home);
    await log.line('ready');
    const ready = announcement(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    await submit(client, session, 'running');
    await stage.model.waitForRequests(1);
    daemon.child.kill('SIGTERM');
    await log.line('draining');
    await client.call('ping');
    const draining = announcement(home);
    gate.open();
    await daemon.exited;

    const { state: _, ...constant } = starting;
    expect(starting).toMatchObject({ state: 'starting', pid: daemon.pid, epoch: 1, protocol: 'holdfast.v1' });
    expect(ready).toEqual({ ...constant, state: 'ready' });
    expect(draining).toEqual({ ...constant, state: 'draining' });
    expect(existsSync(join(home.path, 'gateway.json'))).toBe(false);
  });

  it('is left behind by a kill -9, and replaced by the next daemon', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const { daemon } = await stage.start(home);
    const first = announcement(home);
    await daemon.kill('SIGKILL');
    expect(announcement(home)).toEqual(first);

    const { daemon: next } = await stage.start(home);
    const second = announcement(home);
    expect(second).toMatchObject({ pid: next.pid, epoch: 2, state: 'ready' });
    expect(second.instance_id).not.toBe(first.instance_id);
  });

  it('of another instance is left alone by a clean stop', async () => {
    const stage = await Stage.begin();
    const home = stage.home({ shutdown: { drain_seconds: 3600 } });
    const gate = makeGate();
    stage.model.enqueue(parked(gate, textAnswer('the answer')));
    const { daemon, log } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    await submit(client, session, 'running');
    await stage.model.waitForRequests(1);
    daemon.child.kill('SIGTERM');
    await log.line('draining');
    await client.call('ping');
    const foreign = JSON.stringify({ ...announcement(home), instance_id: 'another' });
    writeFileSync(join(home.path, 'gateway.json'), foreign);
    gate.open();
    expect(await daemon.exited).toEqual({ code: 0, signal: null });

    expect(readFileSync(join(home.path, 'gateway.json'), 'utf8')).toBe(foreign);
  });
});

describe('what a home keeps from one run to the next', () => {
  it('is its token and its port, after a clean stop and after a kill', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const seen: Pick<GatewayFile, 'token' | 'url'>[] = [];
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGTERM'] as const) {
      const { daemon } = await stage.start(home);
      const { token, url } = announcement(home);
      seen.push({ token, url });
      await daemon.kill(signal);
    }
    expect(seen).toEqual(seen.map(() => seen[0]));
    expect(seen[0]?.token).toMatch(/^[\w-]{32,}$/);
  });

  it('is not a port that somebody else has meanwhile: it takes another and serves', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const other = stage.home();
    const { daemon } = await stage.start(home);
    const { url } = announcement(home);
    await daemon.kill('SIGTERM');
    writeFileSync(join(other.path, 'last-port'), new URL(url).port);
    await stage.start(other);
    expect(announcement(other).url).toBe(url);

    await stage.start(home);
    expect(announcement(home).url).not.toBe(url);
    expect(await createSession(await stage.connect(home))).not.toBe('');
  });
});

describe('a daemon with umask 0', () => {
  it('makes a home and files that are for its owner only', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    rmSync(home.path, { recursive: true }); // without a configuration it is the offline demo
    await useAndStop(stage, home, () => {
      expect(modesOf(home)).toEqual(privateModes(home));
      expect(Object.keys(modesOf(home))).toEqual(
        expect.arrayContaining(['gateway.json', 'gateway.lock', 'last-port', 'state.db', 'state.db-wal', 'token']),
      );
    });
    expect(modesOf(home)).toEqual(privateModes(home));
  });

  it('closes a home and files that were open to others', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const index = join(home.path, 'search.db');
    // The index follows the store a moment later.
    await useAndStop(stage, home, () =>
      vi.waitFor(() => {
        expect(existsSync(index)).toBe(true);
      }, 10_000),
    );
    rmSync(join(home.path, 'config.yaml'));
    chmodSync(home.path, 0o755);
    const kept = ['state.db', 'state.hwm', 'search.db', 'gateway.lock', 'last-port', 'token'];
    for (const name of kept) chmodSync(join(home.path, name), 0o666);

    await useAndStop(stage, home, () =>
      vi.waitFor(() => {
        expect(statSync(index).mode & 0o777).toBe(0o600);
      }, 10_000),
    );

    expect(modesOf(home)).toEqual(privateModes(home));
    expect(Object.keys(modesOf(home))).toEqual(expect.arrayContaining(kept));
  });
});

async function useAndStop(stage: Stage, home: TestHome, whileItRuns: () => void | Promise<void>): Promise<void> {
  const before = process.umask(0);
  const { daemon } = stage.spawn(home);
  process.umask(before);
  await daemon.ready(home);
  const client = await stage.connect(home);
  const session = await createSession(client);
  await submit(client, session, 'first');
  await settled(client, session, 'first');
  await whileItRuns();
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
}

/** The mode of the home (as `.`) and of everything in it, in octal. */
function modesOf(home: TestHome): Readonly<Record<string, string>> {
  const names = ['.', ...readdirSync(home.path)].filter((name) => name !== 'config.yaml');
  return Object.fromEntries(names.map((name) => [name, (statSync(join(home.path, name)).mode & 0o777).toString(8)]));
}

function privateModes(home: TestHome): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(modesOf(home)).map((name) => [name, name === '.' ? '700' : '600']));
}

function announcement(home: TestHome): GatewayFile {
  const file = gatewayFile(home);
  if (file === null) throw new Error('there is no gateway.json');
  expect((statSync(join(home.path, 'gateway.json')).mode & 0o777).toString(8)).toBe('600');
  return file;
}
