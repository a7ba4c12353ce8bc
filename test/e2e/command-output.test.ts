import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeGateway } from '../unit/cli/fake-gateway.ts';
import { temporaryHome } from '../unit/config/temporary-home.ts';

const entry = process.env['HOLDFAST_TEST_ENTRY'] ?? fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const pages = 40;
const page = 'x'.repeat(64 * 1024);
/** Longer than the moment that a finished command grants what still holds its process. */
const nobodyReadsMs = 2_500;

async function aLongSession(): Promise<{ readonly home: string; readonly gateway: FakeGateway }> {
  const home = temporaryHome();
  const gateway = await FakeGateway.start(home, {
    'session.export': ({ session_id, cursor = '1' }) => ({
      session_id,
      text: page,
      next_cursor: Number(cursor) < pages ? String(Number(cursor) + 1) : null,
    }),
  });
  return { home, gateway };
}

const start = (home: string, stdout: 'pipe' | number) =>
  spawn(process.execPath, [entry, 'export', 's1', '--home', home], {
    env: { PATH: process.env['PATH'], HOME: home },
    stdio: ['ignore', stdout, 'pipe'],
  });

describe('the output of a command', () => {
  it('reaches a slow reader whole, and is not gathered in memory meanwhile', async () => {
    const { home, gateway } = await aLongSession();
    const { stdout, child } = withPipe(start(home, 'pipe'));
    const ended = codeOf(child);

    await pause(nobodyReadsMs); // the reader is busy with something else
    const askedFor = gateway.paramsOf('session.export').length;
    const read = await text(stdout);

    expect({ code: await ended, bytes: read.length }).toEqual({ code: 0, bytes: pages * page.length });
    expect(askedFor).toBeLessThan(pages / 2);
  });

  it('that a full disk does not take ends the command with 74, which says so', async () => {
    const { home, gateway } = await aLongSession();
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => {
      closeSync(full);
    });
    const child = start(home, full);
    const stderr = child.stderr === null ? '' : text(child.stderr);

    expect(await codeOf(child)).toBe(74);
    expect(await stderr).toMatch(/^The output can't be written: .*ENOSPC/);
    expect(gateway.paramsOf('session.export')).toHaveLength(1);
  });

  it('may be left unread: a reader that had enough is no failure', async () => {
    const { home, gateway } = await aLongSession();
    const { stdout, child } = withPipe(start(home, 'pipe'));
    stdout.once('data', () => stdout.destroy());

    expect(await codeOf(child)).toBe(0);
    expect(gateway.paramsOf('session.export').length).toBeLessThan(pages / 2);
  });
});

function withPipe(child: ReturnType<typeof start>) {
  if (child.stdout === null) throw new Error('a pipe was asked for');
  return { child, stdout: child.stdout };
}

function codeOf(child: ReturnType<typeof start>): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', resolve));
}
