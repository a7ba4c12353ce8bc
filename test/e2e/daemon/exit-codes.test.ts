import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TestHome } from '../../support/daemon.ts';
import { readStore } from '../journey/store.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';

describe('a daemon that is told to stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('exits 0 at %s', async (signal) => {
    const stage = await Stage.begin();
    const home = stage.home();
    const { daemon } = await stage.start(home);
    expect(await daemon.kill(signal)).toEqual({ code: 0, signal: null });
  });
});

describe('a wrong configuration', () => {
  it('ends the start with 78, and with file, line, key and the nearest key for each fault', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const file = join(home.path, 'config.yaml');
    const lines = ['compresion:', '  enabled: true', 'gateway:', '  port: 70000', '  hots: 127.0.0.1', ''];
    writeFileSync(file, lines.join('\n'));

    const { daemon } = stage.spawn(home);
    expect(await daemon.exited).toEqual({ code: 78, signal: null });

    const complaints = daemon.output.split('\n').filter((line) => line.startsWith(file));
    expect(complaints).toEqual([
      expect.stringMatching(/:1:1: compresion: .*`compression`/),
      expect.stringMatching(/:4:9: gateway\.port: must be .*65535/),
      expect.stringMatching(/:5:3: gateway\.hots: .*`host`/),
    ]);
    expect(readdirSync(home.path)).toEqual(['config.yaml']);
  });

  it('that is no YAML ends the start with 78 and its line', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    writeFileSync(join(home.path, 'config.yaml'), 'model:\n  default: "open\n');
    const { daemon } = stage.spawn(home);
    expect(await daemon.exited).toEqual({ code: 78, signal: null });
    expect(daemon.output).toMatch(/config\.yaml:[23]:\d+: /);
  });

  it('never shows the secret that somebody has put into the wrong place', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const secret = 'sk-live-4f9a8b7c6d5e';
    writeFileSync(
      join(home.path, 'config.yaml'),
      `model: { provider: custom, default: m, api_key: ${secret}, base_url: "http://u:${secret}@h/v1" }\n`,
    );
    const { daemon } = stage.spawn(home);
    expect(await daemon.exited).toEqual({ code: 78, signal: null });
    expect(daemon.output).not.toContain(secret);
  });

  it('that names a port which is taken ends the start with 78 and the address', async () => {
    const stage = await Stage.begin();
    const neighbour = createServer().listen(0, '127.0.0.1');
    await once(neighbour, 'listening');
    onTestFinished(() => void neighbour.close());
    const { port } = neighbour.address() as AddressInfo; // it listens on TCP
    const { daemon } = stage.spawn(stage.home({ gateway: { port } }));
    expect(await daemon.exited).toEqual({ code: 78, signal: null });
    expect(daemon.output).toContain(`127.0.0.1:${String(port)}`);
    expect(daemon.output).toContain('EADDRINUSE');
  });
});

describe('a store that is damaged', () => {
  const damages: readonly (readonly [name: string, damage: (database: string) => void])[] = [
    ['has a garbage header', (database) => writeOver(database, 0, Buffer.alloc(100, 'garbage '))],
    ['is cut in half', (database) => truncateSync(database, Math.floor(readFileSync(database).length / 2))],
    ['is a text file', (database) => writeFileSync(database, 'these are my notes, not a database\n'.repeat(300))],
    [
      'has its first page overwritten after the header',
      (database) => writeOver(database, 100, Buffer.alloc(3996, 0xff)),
    ],
  ];

  it.each(damages)(
    'and %s: the start ends with 74, names the file and a next step, and leaves it alone',
    async (_, damage) => {
      const stage = await Stage.begin();
      const home = await aUsedHome(stage);
      damage(home.database);
      const before = readFileSync(home.database);

      const { daemon } = stage.spawn(home);
      expect(await daemon.exited).toEqual({ code: 74, signal: null });

      expect(daemon.output).toContain(home.database);
      expect(daemon.output).toMatch(/holdfast restore|[Mm]ove/);
      expect(readFileSync(home.database)).toEqual(before);
      expect(existsSync(join(home.path, 'gateway.json'))).toBe(false);
    },
  );

  it('or a folder has its name: the start ends with 74, names it, and leaves it alone', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    mkdirSync(home.database);
    writeFileSync(join(home.database, 'precious'), 'mine');

    const { daemon } = stage.spawn(home);
    expect(await daemon.exited).toEqual({ code: 74, signal: null });

    expect(daemon.output).toContain(home.database);
    expect(readFileSync(join(home.database, 'precious'), 'utf8')).toBe('mine');
  });

  it('in that only its log is left: the start ends with 74 and makes no empty store beside it', async () => {
    const stage = await Stage.begin();
    const home = await aKilledHome(stage);
    const log = readFileSync(`${home.database}-wal`);
    expect(log.length).toBeGreaterThan(0);
    rmSync(home.database);

    const { daemon } = stage.spawn(home);
    expect(await daemon.exited).toEqual({ code: 74, signal: null });

    expect(daemon.output).toContain(home.database);
    expect(existsSync(home.database)).toBe(false);
    expect(readFileSync(`${home.database}-wal`)).toEqual(log);
  });

  it('by another program, whose database has the name: the start ends with 74 and leaves it alone', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    const { default: Database } = await import('better-sqlite3');
    const other = new Database(home.database);
    other.exec('CREATE TABLE notes (text); INSERT INTO notes VALUES (1)');
    other.close();
    const before = readFileSync(home.database);

    const { daemon } = stage.spawn(home);
    expect(await daemon.exited).toEqual({ code: 74, signal: null });

    expect(daemon.output).toContain(home.database);
    expect(readFileSync(home.database)).toEqual(before);
  });
});

const entry = process.env['HOLDFAST_TEST_ENTRY'] ?? join(import.meta.dirname, '../../../dist/cli/main.js');
const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;

describe.skipIf(!canMount)('a home on a file system that is read-only (skipped where nothing may be mounted)', () => {
  it('ends the start with 74 and names what may not be written', async () => {
    const stage = await Stage.begin();
    const home = await aUsedHome(stage);
    const before = readStore(home);

    const { code, output } = await serveReadOnly(home);

    expect(code).toBe(74);
    expect(output).toContain(home.path);
    expect(readStore(home)).toEqual(before);
  });
});

describe.skipIf(!canMount)('a home on a disk that is full (skipped where nothing may be mounted)', () => {
  it('can be copied to another disk, and a start there ends with 74 and says what is wrong', async () => {
    const stage = await Stage.begin();
    const home = await aKilledHome(stage);
    const copy = `${home.path}-copy.db`;
    onTestFinished(() => rmSync(copy, { force: true }));

    const { output } = await inMountOf(
      home,
      'cp -a "$1" "$1.away" && mount -t tmpfs -o size=8m tmpfs "$1" && mkdir -m 700 "$1/fresh" && cp -a "$1.away" "$1/used"; ' +
        'rm -rf "$1.away"; dd if=/dev/zero of="$1/fill" bs=4k 2>/dev/null; ' +
        '"$2" "$3" backup "$4" --home "$1/used"; echo "backup ended with $?"; ' +
        '"$2" "$3" serve --home "$1/fresh"; echo "serve ended with $?"',
      copy,
    );

    expect(output).toContain('backup ended with 0');
    expect(output).toContain(`${join(home.path, 'fresh', 'token')} can't be written: the disk is full`);
    expect(output).toContain('serve ended with 74');
    expect(existsSync(copy)).toBe(true);
  });
});

// Rights don't stop root, so that root runs these as somebody else.
describe('a store that its user may not write', () => {
  it('ends the start with 74, and serves as soon as that is put right as the message says', async () => {
    const stage = await Stage.begin();
    const home = await aUsedHome(stage);
    giveAway(home.path);
    chmodSync(home.database, 0o400);

    const refused = spawnAsUser(home);
    expect(await refused.exited).toBe(74);
    expect(refused.output()).toContain(`${home.database} may not be read and written`);
    expect(existsSync(`${home.database}-shm`)).toBe(false);
    chmodSync(home.database, 0o600);

    const served = spawnAsUser(home);
    await vi.waitFor(() => expect(served.output()).toContain('Holdfast is ready'), { timeout: 30_000, interval: 20 });
    served.child.kill('SIGTERM');
    expect(await served.exited).toBe(0);
  });

  it('may also be one whose mark can’t be read, which is named then', async () => {
    const stage = await Stage.begin();
    const home = await aUsedHome(stage);
    giveAway(home.path);
    chmodSync(join(home.path, 'state.hwm'), 0);

    const refused = spawnAsUser(home);

    expect(await refused.exited).toBe(74);
    expect(refused.output()).toContain(`${join(home.path, 'state.hwm')} may not be read and written`);
  });
});

describe('gateway.json', () => {
  it('that is a folder ends the start with 74 and its name, without a stack', async () => {
    const stage = await Stage.begin();
    const home = stage.home();
    mkdirSync(join(home.path, 'gateway.json'));

    const { daemon } = stage.spawn(home);
    expect(await daemon.exited).toEqual({ code: 74, signal: null });

    expect(daemon.output).toContain(`${join(home.path, 'gateway.json')} can't be written: a folder is in its place`);
    expect(daemon.output).not.toContain(' at ');
  });
});

const ordinaryUser = process.getuid?.() === 0 ? 1000 : undefined;

function giveAway(folder: string): void {
  if (ordinaryUser === undefined) return;
  for (const name of ['.', ...readdirSync(folder)]) chownSync(join(folder, name), ordinaryUser, ordinaryUser);
}

/** The built daemon, as somebody whom rights stop. */
function spawnAsUser(home: TestHome): {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  readonly output: () => string;
} {
  const child = spawn(process.execPath, [entry, 'serve', '--home', home.path], {
    env: { PATH: process.env['PATH'], HOME: home.path, OPENAI_API_KEY: 'sk-test-key' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(ordinaryUser === undefined ? {} : { uid: ordinaryUser, gid: ordinaryUser }),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const exited = once(child, 'close').then(([code]) => code as number | null); // the event's own type
  return { child, exited, output: () => output };
}

/** A daemon whose own view of the home is read-only: root may write in spite of every mode. */
async function serveReadOnly(home: TestHome): Promise<{ code: number | null; output: string }> {
  return inMountOf(home, 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" "$3" serve --home "$1"');
}

/** Runs a script that may mount what nobody else sees. $1: the home, $2 $3: the built program. */
async function inMountOf(
  home: TestHome,
  script: string,
  ...args: readonly string[]
): Promise<{ code: number | null; output: string }> {
  const child = spawn('unshare', ['-m', 'sh', '-c', script, 'sh', home.path, process.execPath, entry, ...args], {
    env: { PATH: process.env['PATH'], HOME: home.path, OPENAI_API_KEY: 'sk-test-key' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** A home whose daemon has run and stopped. */
async function aUsedHome(stage: Stage): Promise<TestHome> {
  const home = stage.home();
  const { daemon } = await stage.start(home);
  await useIt(stage, home);
  await daemon.kill('SIGTERM');
  return home;
}

/** A home whose daemon was killed in its work. */
async function aKilledHome(stage: Stage): Promise<TestHome> {
  const home = stage.home();
  const { daemon } = await stage.start(home);
  await useIt(stage, home);
  await daemon.kill('SIGKILL');
  rmSync(join(home.path, 'gateway.json'));
  return home;
}

async function useIt(stage: Stage, home: TestHome): Promise<void> {
  const client = await stage.connect(home);
  const session = await createSession(client);
  await submit(client, session, 'first');
  await settled(client, session, 'first');
}

function writeOver(file: string, offset: number, bytes: Buffer): void {
  const content = readFileSync(file);
  bytes.copy(content, offset);
  writeFileSync(file, content);
}
