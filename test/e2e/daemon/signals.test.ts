import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeGate, parked, textAnswer } from '../../support/loopback-model/answers.ts';
import { admissionOf } from '../journey/journey.ts';
import { readStore } from '../journey/store.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';

const clean = { code: 0, signal: null };
/** Longer than a test may take: who waits for it has failed. */
const endlessDrain = { shutdown: { drain_seconds: 3600 } };

describe('a signal to stop', () => {
  it('that comes before the daemon is ready ends it as cleanly as a later one', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const first = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    await client.call('session.hold', { session_id: session });
    await submit(client, session, 'waits');
    await first.daemon.kill('SIGKILL');

    const { daemon, log } = stage.spawn(home, { HOLDFAST_FAILPOINTS: 'recovery.before:delay=1500' });
    await log.line('starting');
    expect(await daemon.kill('SIGTERM')).toEqual(clean);

    expect(log.lines.map(({ message }) => message)).not.toContain('ready');
    expect(existsSync(join(home.path, 'gateway.json'))).toBe(false);
    expect(admissionOf(readStore(home), 'waits')).toMatchObject({ status: 'queued' });
  });

  it('that comes while recovery waits for a store which another program holds is obeyed at once', async () => {
    const stage = await Stage.begin();
    const home = stage.home(endlessDrain);
    stage.model.answerWith((call) => call.closed);
    const first = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    await submit(client, session, 'running');
    await stage.model.waitForRequests(1);
    await first.daemon.kill('SIGKILL');

    const { daemon, log } = stage.spawn(home, { HOLDFAST_FAILPOINTS: 'recovery.before:delay=1500' });
    await log.line('starting');
    const other = new Database(home.database, { timeout: 0 });
    onTestFinished(() => void other.close());
    other.exec('BEGIN IMMEDIATE');
    await log.line('the storage is full or busy: trying again');
    expect(await daemon.kill('SIGTERM')).toEqual(clean);
    other.exec('ROLLBACK');

    expect(existsSync(join(home.path, 'gateway.json'))).toBe(false);
    expect(admissionOf(readStore(home), 'running')).toMatchObject({ status: 'started' });
    await stage.start(home);
    expect(admissionOf(readStore(home), 'running')).toMatchObject({ status: 'unknown' });
  });

  it('interrupts a turn that does not end in the time to drain, and touches nothing that waits', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    stage.model.answerWith((call) => call.closed);
    const { daemon, log } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    for (const text of ['running', 'second', 'third']) await submit(client, session, text);
    await stage.model.waitForRequests(1);
    const before = readStore(home);

    expect(await daemon.kill('SIGTERM')).toEqual(clean);

    const after = readStore(home);
    expect(admissionOf(after, 'running')).toMatchObject({ status: 'terminal', outcome: 'interrupted' });
    for (const waiting of ['second', 'third']) {
      expect(admissionOf(after, waiting)).toEqual(admissionOf(before, waiting));
    }
    expect(stage.model.requests).toHaveLength(1);
    expect(log.lines.map(({ message }) => message)).toContain('stopped');
    expect(client.closed).toBe(true);
  });

  it('lets a turn end that does so in time, and starts no other', async () => {
    const stage = await Stage.begin();
    const home = stage.home(endlessDrain);
    const gate = makeGate();
    stage.model.enqueue(parked(gate, textAnswer('the answer')));
    const { daemon, log } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    for (const text of ['running', 'waits']) await submit(client, session, text);
    await stage.model.waitForRequests(1);

    daemon.child.kill('SIGTERM');
    await log.line('draining');
    gate.open();
    expect(await daemon.exited).toEqual(clean);

    const after = readStore(home);
    expect(admissionOf(after, 'running')).toMatchObject({ status: 'terminal', outcome: 'completed' });
    expect(admissionOf(after, 'waits')).toMatchObject({ status: 'queued', execution_generation: null });
    expect(stage.model.requests).toHaveLength(1);
  });

  it('that comes a second time skips the wait', async () => {
    const stage = await Stage.begin();
    const home = stage.home(endlessDrain);
    stage.model.answerWith((call) => call.closed);
    const { daemon, log } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    await submit(client, session, 'running');
    await stage.model.waitForRequests(1);

    daemon.child.kill('SIGTERM');
    await log.line('draining');
    expect(await daemon.kill('SIGINT')).toEqual(clean);

    expect(admissionOf(readStore(home), 'running')).toMatchObject({ status: 'terminal', outcome: 'interrupted' });
  });

  it('may come twenty times, and the stop is as clean as after one', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    stage.model.answerWith((call) => call.closed);
    const { daemon } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    for (const text of ['running', 'waits']) await submit(client, session, text);
    await stage.model.waitForRequests(1);

    for (let count = 0; count < 20; count += 1) daemon.child.kill(count % 2 === 0 ? 'SIGTERM' : 'SIGINT');
    expect(await daemon.exited).toEqual(clean);

    const after = readStore(home);
    expect(admissionOf(after, 'running')).toMatchObject({ status: 'terminal', outcome: 'interrupted' });
    expect(admissionOf(after, 'waits')).toMatchObject({ status: 'queued' });
    expect(existsSync(join(home.path, 'gateway.json'))).toBe(false);
  });
});

describe('a signal that is no reason to stop', () => {
  it('such as SIGHUP or SIGPIPE changes nothing', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const { daemon } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    for (const signal of ['SIGHUP', 'SIGPIPE', 'SIGHUP'] as const) daemon.child.kill(signal);
    await submit(client, session, 'after');
    expect(await settled(client, session, 'after')).toMatchObject({ outcome: 'completed' });
    expect(daemon.child.exitCode).toBeNull();
  });

  it('such as SIGSTOP pauses a turn, and SIGCONT lets it end', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const gate = makeGate();
    stage.model.enqueue(parked(gate, textAnswer('the answer')));
    const { daemon } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    await submit(client, session, 'running');
    await stage.model.waitForRequests(1);

    daemon.child.kill('SIGSTOP');
    gate.open();
    const end = settled(client, session, 'running');
    const later = submit(client, session, 'follower');
    daemon.child.kill('SIGCONT');

    expect(await end).toMatchObject({ outcome: 'completed' });
    expect(await later).toMatchObject({ duplicate: false });
    expect(await settled(client, session, 'follower')).toMatchObject({ outcome: 'completed' });
    expect(stage.model.requests).toHaveLength(2);
  });
});
