import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RecordingLogger } from '../../../src/adapters/outbound/memory/recording-logger.ts';
import { openInProcessStorage } from '../../../src/adapters/outbound/sqlite/in-process-storage.ts';
import { readMark } from '../../../src/adapters/outbound/sqlite/high-water-mark.ts';
import { runDaemon } from '../../../src/composition/daemon.ts';
import { ListenError } from '../../../src/composition/listen.ts';
import { stopOnSignals } from '../../../src/composition/stop.ts';
import type { Stop } from '../../../src/composition/stop.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { parseFailpoints } from '../../../src/config/failpoint-rules.ts';
import { StorageError } from '../../../src/core/ports/ledger.ts';
import { anEvent } from '../../support/builders.ts';
import { creation, firstPrompt, ownerOf } from '../sqlite/prompts.ts';

/** A home, and the lives that daemons have in it, all in this process. */
class Home {
  readonly path = mkdtempSync(join(tmpdir(), 'holdfast-daemon-'));

  constructor(config: object = {}) {
    onTestFinished(() => rmSync(this.path, { recursive: true, force: true }));
    this.configure(config);
  }

  get database(): string {
    return join(this.path, 'state.db');
  }

  get announcement(): string {
    return join(this.path, 'gateway.json');
  }

  configure(config: object): void {
    writeFileSync(join(this.path, 'config.yaml'), JSON.stringify({ shutdown: { drain_seconds: 0.1 }, ...config }));
  }

  /** How the last owner has left the store; null where there is none. */
  left(): object | null {
    const found = readMark(join(this.path, 'state.hwm'));
    if (found.kind !== 'found') return null;
    const { state, epoch } = found.mark;
    return { state, epoch, log: existsSync(`${this.database}-wal`), announced: existsSync(this.announcement) };
  }

  /** What is in the store's files, as one digest. */
  content(): string {
    const hash = createHash('sha256');
    for (const name of ['state.db', 'state.db-wal']) hash.update(readFileSync(join(this.path, name)));
    return hash.digest('hex');
  }
}

const closed = (epoch: number): object => ({ state: 'closed', epoch, log: false, announced: false });

interface LifeOptions {
  readonly failpoints?: string;
  /** Is called with each line of the log. */
  readonly onLine?: (message: string, life: DaemonLife) => void;
  /** Is called before the daemon looks whether a stop is asked for, with the number of such looks. */
  readonly onLook?: (look: number, life: DaemonLife) => void;
}

class DaemonLife {
  readonly logger = new RecordingLogger();
  readonly signals = new EventEmitter();
  readonly stop: Stop;
  readonly end: Promise<number>;
  looks = 0;

  constructor(home: Home, { failpoints = '', onLine, onLook }: LifeOptions = {}) {
    const parsed = parseFailpoints(failpoints);
    if (parsed.kind !== 'parsed') throw new Error(parsed.problem);
    this.stop = stopOnSignals(this.signals as unknown as NodeJS.Process, { ms: 60_000, bark: () => undefined });
    const look = (): void => {
      this.looks += 1;
      onLook?.(this.looks, this);
    };
    const { stop } = this;
    for (const level of ['info', 'warn'] as const) {
      const write = this.logger[level].bind(this.logger);
      this.logger[level] = (message, fields) => {
        write(message, fields);
        onLine?.(message, this);
      };
    }
    this.end = runDaemon({
      configuration: { ...readConfiguration(home.path), failpoints: parsed.rules },
      logger: this.logger,
      mask: (text) => text,
      stop: {
        ...stop,
        get requested() {
          look();
          return stop.requested;
        },
        get fatalCause() {
          return stop.fatalCause;
        },
      },
      onReady: () => undefined,
    });
  }

  signal(name = 'SIGTERM'): void {
    this.signals.emit(name, name);
  }

  said(message: string): boolean {
    return this.logger.lines.some((line) => line.message === message);
  }
}

/** A life that is stopped when it is ready. */
function ready(home: Home): Promise<number> {
  return new DaemonLife(home, { onLine: (message, life) => void (message === 'ready' && life.signal()) }).end;
}

describe('a signal to stop', () => {
  test('before the store is open leaves it alone', async () => {
    const home = new Home();

    const life = new DaemonLife(home);
    life.signal();

    expect(await life.end).toBe(0);
    expect([home.left(), existsSync(home.database), existsSync(home.announcement)]).toEqual([null, false, false]);
  });

  test('at any moment of the start closes in order what was opened, and serves nobody', async () => {
    const home = new Home();
    await ready(home);
    expect(home.left()).toEqual(closed(1));

    for (let at = 1, epoch = 1; ; at += 1) {
      const life = new DaemonLife(home, { onLook: (look, self) => void (look === at && self.signal()) });
      if (at > 10) throw new Error('A start looks only a few times.');
      const looked = await Promise.race([life.end, untilSaid(life, 'ready')]);
      if (looked === 'ready') {
        life.signal();
        expect(await life.end).toBe(0);
        expect(at).toBeGreaterThan(3); // before the store, before its epoch, before recovery, before `ready`
        return;
      }
      if (life.said('starting')) epoch += 1;
      expect([at, looked, home.left()]).toEqual([at, 0, closed(epoch)]);
      expect([life.said('stopped'), life.said('ready')]).toEqual([true, false]);
    }
  });

  test('while recovery waits for a store that another program holds ends it at once, with one signal', async () => {
    const home = new Home();
    await ready(home);
    await leaveATurnStarted(home);
    const other = new Database(home.database, { timeout: 0 });
    onTestFinished(() => void other.close());

    const life = new DaemonLife(home, {
      onLine: (message, self) => {
        if (message === 'starting') other.exec('BEGIN IMMEDIATE');
        if (message.startsWith('the storage is full or busy')) self.signal();
      },
    });

    expect(await life.end).toBe(0);
    expect([life.said('stopped'), life.said('ready')]).toEqual([true, false]);
    other.exec('ROLLBACK');
    expect(requeuedIn(home)).toBe(0);
    expect(await ready(home)).toBe(0);
    expect(requeuedIn(home)).toBe(1);
  });

  test('is obeyed although gateway.json can’t be written', async () => {
    const home = new Home();
    const life = new DaemonLife(home, {
      onLine: (message, self) => {
        if (message !== 'ready') return;
        rmSync(home.announcement);
        mkdirSync(home.announcement);
        self.signal();
      },
    });

    expect(await life.end).toBe(0);
    expect(home.left()).toMatchObject({ state: 'closed' });
  });
});

describe('a start that fails leaves the store as a stop in order does', () => {
  test('when the port is taken: the store is not even touched', async () => {
    const home = new Home();
    await ready(home);
    const before = home.left();
    const neighbour = createServer().listen(0, '127.0.0.1');
    await once(neighbour, 'listening');
    onTestFinished(() => void neighbour.close());
    home.configure({ gateway: { port: (neighbour.address() as AddressInfo).port } }); // it listens on TCP

    await expect(new DaemonLife(home).end).rejects.toThrow(ListenError);

    expect([before, home.left()]).toEqual([closed(1), closed(1)]);
  });

  test('when another program takes the store just before its epoch is raised', async () => {
    const home = new Home();
    await ready(home);
    const other = new Database(home.database, { timeout: 0 });
    onTestFinished(() => void other.close());

    const life = new DaemonLife(home, { onLook: (look) => void (look === 2 && other.exec('BEGIN IMMEDIATE')) });

    expect(await life.end).toBe(74);
    expect(home.left()).toMatchObject({ state: 'closed', epoch: 1 });
  });

  test('when gateway.json can’t be written', async () => {
    const home = new Home();
    mkdirSync(home.announcement);

    const life = new DaemonLife(home);

    expect(await life.end).toBe(74);
    expect(life.logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
      expect.stringContaining('gateway.json'),
    ]);

    expect(home.left()).toMatchObject({ state: 'closed', epoch: 1, log: false });
  });

  test('when recovery has a bug', async () => {
    const home = new Home();

    await expect(new DaemonLife(home, { failpoints: 'recovery.before:throw' }).end).rejects.toThrow(/failpoint/);

    expect(home.left()).toMatchObject({ state: 'closed', epoch: 1, log: false });
  });

  test('when recovery has a bug that shows after a signal', async () => {
    const home = new Home();

    const life = new DaemonLife(home, {
      failpoints: 'recovery.before:delay=300,recovery.before:throw',
      onLine: (message, self) => void (message === 'starting' && setImmediate(() => self.signal())),
    });

    await expect(life.end).rejects.toThrow(/failpoint/);
    expect(home.left()).toMatchObject({ state: 'closed', epoch: 1, log: false });
  });
});

describe('a fatal cause during a stop', () => {
  test.each([
    ['a failure of the storage', { kind: 'storage', error: new StorageError('io', 'The disk is gone.') }, 74],
    ['another owner', { kind: 'superseded', epoch: 7 }, 75],
  ] as const)('leaves the store as it is: %s', async (_, cause, exitCode) => {
    const home = new Home();
    let before = '';

    const life = new DaemonLife(home, {
      onLine: (message, self) => {
        if (message === 'ready') self.signal();
        if (message !== 'draining') return;
        before = home.content();
        self.stop.fatal(cause);
      },
    });

    expect(await life.end).toBe(exitCode);
    expect(home.content()).toBe(before);
    expect(home.left()).toMatchObject({ state: 'open', log: true });
  });
});

/** Resolves when the life says so, if it ever does. */
async function untilSaid(life: DaemonLife, message: string): Promise<string> {
  while (!life.said(message)) await new Promise((resolve) => setTimeout(resolve, 5));
  return message;
}

/** What a gateway leaves that dies between a claim and its request. */
async function leaveATurnStarted(home: Home): Promise<void> {
  const storage = await openInProcessStorage({ home: home.path, newStoreId: 'another' });
  const { ledger } = storage;
  const epoch = await ownerOf(ledger);
  await ledger.append(creation('session-1', epoch));
  await ledger.append(firstPrompt('session-1', epoch, 1));
  const header = { sessionId: 'session-1', epoch, seq: 3, admissionId: 'admission-1', executionGeneration: 1 };
  await ledger.append({
    sessionId: 'session-1',
    expectedSeq: 2,
    epoch,
    events: [anEvent({ type: 'turn.started' }, header)],
  });
  await storage.close();
}

function requeuedIn(home: Home): number {
  const db = new Database(home.database, { readonly: true });
  const count = db.prepare<[], number>(`SELECT count(*) FROM session_events WHERE type = 'admission.requeued'`).pluck();
  try {
    return count.get() ?? 0;
  } finally {
    db.close();
  }
}
