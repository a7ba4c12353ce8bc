import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gatewayFile } from '../../support/daemon.ts';
import type { TestHome } from '../../support/daemon.ts';
import { readStore } from '../journey/store.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';

describe('a second daemon on the same home', () => {
  it('exits 75, names the holder, and harms nothing', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const { daemon: first } = await stage.start(home);
    const announced = readFileSync(join(home.path, 'gateway.json'), 'utf8');

    const { daemon: second } = stage.spawn(home);
    expect(await second.exited).toEqual({ code: 75, signal: null });

    expect(second.output).toContain(`process ${String(first.pid)}`);
    expect(second.output).toContain(gatewayFile(home)?.url);
    expect(second.output).not.toContain(gatewayFile(home)?.token);
    await expectUntouched(stage, home, announced);
  });

  it('is refused through a symbolic link to the home as well', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    await stage.start(home);
    const announced = readFileSync(join(home.path, 'gateway.json'), 'utf8');
    const link = `${home.path}-link`;
    symlinkSync(home.path, link);
    onTestFinished(() => {
      rmSync(link);
    });

    const { daemon: second } = stage.spawn(home, {}, ['--home', link]);
    expect(await second.exited).toEqual({ code: 75, signal: null });
    expect(second.output).toContain(link);

    await expectUntouched(stage, home, announced);
  });

  it('is refused while the holder is stopped, and the holder goes on when it is continued', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const { daemon: holder } = await stage.start(home);
    const client = await stage.connect(home);
    const announced = readFileSync(join(home.path, 'gateway.json'), 'utf8');

    holder.child.kill('SIGSTOP');
    const answer = client.call('ping');
    const { daemon: second } = stage.spawn(home);
    expect(await second.exited).toEqual({ code: 75, signal: null });
    holder.child.kill('SIGCONT');

    expect(await answer).toHaveProperty('at');
    await expectUntouched(stage, home, announced);
  });

  it('has no chance among twenty that start at once: exactly one wins', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const racers = Array.from({ length: 20 }, () => stage.spawn(home).daemon);
    const codes: (number | null)[] = [];
    await new Promise<void>((resolve) => {
      for (const { exited } of racers) {
        void exited.then(({ code }) => {
          codes.push(code);
          if (codes.length === racers.length - 1) resolve();
        });
      }
    });

    expect(codes).toEqual(codes.map(() => 75));
    const [winner] = racers.filter(({ child }) => child.exitCode === null);
    expect(await winner?.ready(home)).toMatchObject({ pid: winner?.pid, epoch: 1 });
    const session = await createSession(await stage.connect(home));
    expect(session).not.toBe('');
  });
});

describe('the next daemon after a kill -9', () => {
  it('starts without any cleaning up, with the next epoch and the same token and address', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const { daemon } = await stage.start(home);
    const before = gatewayFile(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    await submit(client, session, 'first');
    await settled(client, session, 'first');

    await daemon.kill('SIGKILL');
    await stage.start(home);

    expect(gatewayFile(home)).toMatchObject({ token: before?.token, url: before?.url, epoch: 2 });
    const again = await stage.connect(home);
    expect(await submit(again, session, 'first')).toMatchObject({ duplicate: true, outcome: 'completed' });
  });
});

describe('a daemon whose store another owner has taken over', () => {
  it('writes nothing more, says so, and exits 75', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const { daemon } = await stage.start(home);
    const client = await stage.connect(home);
    const session = await createSession(client);
    const thief = new Database(home.database);
    thief.exec('UPDATE runtime_epoch SET epoch = epoch + 1');
    thief.close();
    const before = readStore(home);

    const answer = await client.request('prompt.submit', { session_id: session, input_id: 'late', text: 'late' });

    expect(answer.error?.data ?? { reason: 'connection lost' }).toMatchObject({
      reason: expect.stringMatching(/^(storage_unavailable|stale_epoch|connection lost)$/) as string,
    });
    expect(await daemon.exited).toEqual({ code: 75, signal: null });
    expect(readStore(home)).toEqual(before);
  });
});

/** The holder's announcement is what it was, and it still serves. */
async function expectUntouched(stage: Stage, home: TestHome, announced: string): Promise<void> {
  expect(readFileSync(join(home.path, 'gateway.json'), 'utf8')).toBe(announced);
  expect(readStore(home).epoch).toBe(1);
  const client = await stage.connect(home);
  const session = await createSession(client);
  await submit(client, session, 'still there?');
  expect(await settled(client, session, 'still there?')).toMatchObject({ outcome: 'completed' });
}
