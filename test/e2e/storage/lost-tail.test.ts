import { copyFileSync, existsSync, readFileSync, rmSync, truncateSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Daemon, TestHome } from '../../support/daemon.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';

/*
 * RELIABILITY F32 to F35: files of a stopped store that were cut, deleted or put back. Acknowledged work is there, or the
 * start says that it is missing; there is nothing between.
 */

const prompts = ['first', 'second', 'third'];

describe('a log that was lost while the daemon was down', () => {
  it.each([
    ['deleted', (log: string) => rmSync(log)],
    ['cut to 60 percent', (log: string) => truncateSync(log, Math.floor(readFileSync(log).length * 0.6))],
  ])('by being %s takes nothing with it in silence', async (_, lose) => {
    const { stage, home, daemon, client, session } = await work();
    await noted(home, client, session);
    await daemon.kill('SIGKILL');
    if (existsSync(`${home.database}-wal`)) lose(`${home.database}-wal`);

    const next = stage.spawn(home);
    const serves = await next.daemon.ready(home).then(
      () => true,
      () => false,
    );
    if (!serves) {
      expect(await next.daemon.exited).toEqual({ code: 74, signal: null });
      expect(next.daemon.output).toContain('holdfast restore');
      return;
    }
    const again = await stage.connect(home);
    for (const prompt of prompts) {
      expect(await submit(again, session, prompt)).toMatchObject({ duplicate: true, outcome: 'completed' });
    }
  });
});

describe('an older copy of the database that somebody has put back', () => {
  it('ends the start with 74: what was acknowledged since is missing, and the message says what to do', async () => {
    const { stage, home, daemon, client, session } = await work();
    await daemon.kill('SIGTERM');
    const copy = copyOf(home);
    const later = await stage.start(home);
    client.close();
    const again = await stage.connect(home);
    await submit(again, session, 'after the copy');
    await settled(again, session, 'after the copy');
    await later.daemon.kill('SIGTERM');
    copyFileSync(copy, home.database);

    await expectRefused(stage, home, copy);
  });

  it('under a newer log ends the start with 74: together they are no store', async () => {
    const { stage, home, daemon, session } = await work();
    await daemon.kill('SIGTERM');
    const copy = copyOf(home);
    for (const [prompt, end] of [
      ['after the copy', 'SIGTERM'],
      ['in the log', 'SIGKILL'],
    ] as const) {
      const later = await stage.start(home);
      const again = await stage.connect(home);
      await submit(again, session, prompt);
      await settled(again, session, prompt);
      await later.daemon.kill(end);
    }
    copyFileSync(copy, home.database);

    await expectRefused(stage, home, copy);
  });
});

async function expectRefused(stage: Stage, home: TestHome, copy: string): Promise<void> {
  const { daemon } = stage.spawn(home);
  expect(await daemon.exited).toEqual({ code: 74, signal: null });
  expect(daemon.output).toContain(home.database);
  expect(daemon.output).toContain('holdfast restore');
  expect(readFileSync(home.database)).toEqual(readFileSync(copy));
}

function copyOf(home: TestHome): string {
  const copy = join(home.path, 'my-copy-of-state.db');
  copyFileSync(home.database, copy);
  return copy;
}

/** A home in which three prompts have been answered, with its daemon. */
async function work(): Promise<{
  readonly stage: Stage;
  readonly home: TestHome;
  readonly daemon: Daemon;
  readonly client: RawClient;
  readonly session: string;
}> {
  const stage = await Stage.begin();
  const home = stage.home();
  const { daemon } = await stage.start(home);
  const client = await stage.connect(home);
  const session = await createSession(client);
  for (const prompt of prompts) {
    await submit(client, session, prompt);
    await settled(client, session, prompt);
  }
  return { stage, home, daemon, client, session };
}

/** Waits until the store has begun to empty its log, before which it notes how far it has come. */
async function noted(home: TestHome, client: RawClient, session: string): Promise<void> {
  const database = watch(home.database);
  const written = new Promise<void>((resolve) => database.once('change', () => resolve()));
  await client.call('session.hold', { session_id: session });
  await written;
  database.close();
}
