import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import { RecordingLogger } from '../../../../src/adapters/outbound/memory/recording-logger.ts';
import {
  ConnectionError,
  type CallAnswer,
  type Connection,
} from '../../../../src/adapters/outbound/tools/connection.ts';
import { McpServer } from '../../../../src/adapters/outbound/tools/mcp-server.ts';
import type { ToolOutcome } from '../../../../src/core/ports/tool-host.ts';
import { aServer, noSignal } from '../../../support/mcp/tool-bench.ts';

/** A connection that answers `ok` at once, to `wait` when it is told to, and that ends when the test says so. */
class ScriptedConnection implements Connection {
  readonly closed: Promise<string>;
  readonly toolCount = 1;
  readonly calls: string[] = [];
  heeds = false;
  stops = 0;
  end: (why: string) => void = () => undefined;
  answer: (answer: CallAnswer) => void = () => undefined;

  constructor() {
    this.closed = new Promise((resolve) => (this.end = resolve));
  }

  async tools() {
    return [{ name: 'ok', description: '', parameters: { type: 'object' } }];
  }

  async call(tool: string, _args: unknown, signal: AbortSignal): Promise<CallAnswer> {
    this.calls.push(tool);
    signal.addEventListener('abort', () => this.calls.push(`cancel ${tool}`));
    if (tool === 'ok') return ok;
    return new Promise((resolve) => (this.answer = resolve));
  }

  async heedsCancels() {
    return this.heeds;
  }

  async stop() {
    this.stops += 1;
    this.end('stopped');
  }
}

const ok: CallAnswer = { kind: 'result', result: { content: [{ type: 'text', text: 'ok' }] } };
const answered = { kind: 'answered', text: 'ok', isError: false };

/** A server on connections that the test scripts. */
class World {
  readonly clock = new FakeClock();
  readonly logger = new RecordingLogger();
  readonly connections: ScriptedConnection[] = [];
  readonly startedAtMs: number[] = [];
  /** What the next starts come to: by default a connection. */
  start: () => Promise<Connection> = async () => new ScriptedConnection();
  readonly server = new McpServer(aServer({ name: 'files', timeoutMs: 60_000, startupTimeoutMs: 9_000 }), {
    open: async () => {
      this.startedAtMs.push(this.clock.monotonicMs());
      const connection = await this.start();
      if (connection instanceof ScriptedConnection) this.connections.push(connection);
      return connection;
    },
    clock: this.clock,
    logger: this.logger,
  });

  get starts(): number {
    return this.startedAtMs.length;
  }

  newest(): ScriptedConnection {
    return this.connections.at(-1) ?? expect.unreachable('nothing has been started');
  }

  call(tool = 'ok', signal = noSignal): Promise<ToolOutcome> {
    return this.server.call(tool, {}, signal);
  }

  /** Lets everything happen that needs no time. */
  settled(): Promise<void> {
    return this.clock.advance(0);
  }
}

const refuse = async (): Promise<Connection> => {
  throw new ConnectionError('it answered with HTTP 503');
};

describe('a server that is needed by many at once', () => {
  test('is started once, and one who stops waiting stops nobody else', async () => {
    const world = new World();
    let begin: (connection: Connection) => void = () => undefined;
    world.start = () => new Promise((resolve) => (begin = resolve));
    const stop = new AbortController();

    const first = world.call('ok', stop.signal);
    const others = [world.call(), world.server.tools(noSignal)];
    stop.abort();

    expect(await first).toMatchObject({ kind: 'broken', reason: 'aborted', notStarted: true });
    expect(world.server.health()).toMatchObject({ state: 'starting', tools: null });
    begin(new ScriptedConnection());
    expect(await Promise.all(others)).toEqual([answered, [expect.objectContaining({ name: 'ok' })]]);
    expect(world.starts).toBe(1);
  });
});

describe('a server that crashes', () => {
  test('is left alone for longer each time, until it has answered again', async () => {
    const world = new World();
    for (const backOffMs of [0, 1_000, 2_000]) {
      const listing = world.server.tools(noSignal);
      await world.clock.advance(backOffMs);
      await listing;
      world.newest().end('its process ended with code 1');
      await world.settled();
    }
    expect(world.startedAtMs).toEqual([0, 1_000, 3_000]);
    expect(world.server.health()).toEqual({
      server: 'files',
      state: 'backing_off',
      tools: null,
      restarts: 2,
      lastError: 'its process ended with code 1',
    });

    const answering = world.call();
    await world.clock.advance(4_000);
    await answering;
    world.newest().end('its process ended with code 1');
    await world.settled();

    const next = world.call();
    await world.clock.advance(1_000);
    expect(await next).toEqual(answered);
  });

  test('after a long and steady run has no earlier failure held against it', async () => {
    const world = new World();
    for (const aliveMs of [0, 60_000]) {
      const listing = world.server.tools(noSignal);
      await world.clock.advance(1_000);
      await listing;
      await world.clock.advance(aliveMs);
      world.newest().end('its process ended with code 1');
      await world.settled();
    }

    const listing = world.server.tools(noSignal);
    await world.clock.advance(999);
    expect(world.starts).toBe(2);
    await world.clock.advance(1);
    await listing;
    expect(world.starts).toBe(3);
  });

  test('ends its calls, none of which is sent again', async () => {
    const world = new World();
    const calling = world.call('wait');
    await world.settled();

    world.newest().answer({ kind: 'lost', why: 'its process ended with code 1', notStarted: false, broken: true });

    expect(await calling).toMatchObject({ kind: 'broken', reason: 'unavailable', notStarted: false });
    expect(world.newest().calls).toEqual(['wait']);
    expect(world.starts).toBe(1);
  });
});

describe('a server that can not be started', () => {
  test('is tried again with growing distance, refuses at once what would wait too long, and is given up', async () => {
    const world = new World();
    world.start = refuse;
    for (let second = 0; second <= 400; second += 1) {
      void world.call();
      await world.clock.advance(1_000);
    }

    expect(world.startedAtMs).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 331_000]);
    expect(world.server.health()).toMatchObject({ state: 'failed', lastError: 'it answered with HTTP 503' });
    expect(await world.call()).toEqual({
      kind: 'broken',
      reason: 'unavailable',
      message:
        'The call to the tool server "files" was not sent, because it answered with HTTP 503 (next try in 230 s); it had no effect.',
      notStarted: true,
    });
  });

  test('is reported once for each failure, not for each who asks', async () => {
    const world = new World();
    world.start = refuse;

    await Promise.all([world.call(), world.call(), world.server.tools(noSignal)]);

    expect(world.logger.lines).toEqual([
      {
        level: 'warn',
        message: 'tool server has failed',
        fields: { server: 'files', reason: 'it answered with HTTP 503', failuresInARow: 1 },
      },
    ]);
  });
});

describe('a call that is stopped', () => {
  test('while its server starts is never sent', async () => {
    const world = new World();
    const stop = new AbortController();

    const calling = world.call('wait', stop.signal);
    stop.abort();

    expect(await calling).toMatchObject({ reason: 'aborted', notStarted: true });
    await world.settled();
    expect(world.newest().calls).toEqual([]);
  });

  test('before it could be sent to a server that runs is never sent', async () => {
    const world = new World();
    await world.call();
    const stop = new AbortController();

    const calling = world.call('wait', stop.signal);
    stop.abort();

    expect(await calling).toMatchObject({ reason: 'aborted', notStarted: true });
    expect(world.newest().calls).toEqual(['ok']);
  });

  test('leaves a server that heeds it running', async () => {
    const world = new World();
    const stop = new AbortController();
    const calling = world.call('wait', stop.signal);
    await world.settled();
    world.newest().heeds = true;

    stop.abort();

    expect(await calling).toMatchObject({ reason: 'aborted', notStarted: false });
    expect(world.newest().calls).toEqual(['wait', 'cancel wait']);
    expect([world.newest().stops, world.server.health().state]).toEqual([0, 'ready']);
  });

  test('has a server that does not heed it stopped before it ends, and no failure counted', async () => {
    const world = new World();
    const stop = new AbortController();
    const calling = world.call('wait', stop.signal);
    await world.settled();

    stop.abort();
    await calling;

    expect(world.newest().stops).toBe(1);
    expect(world.server.health()).toEqual({
      server: 'files',
      state: 'idle',
      tools: null,
      restarts: 0,
      lastError: null,
    });
    expect(await world.call()).toEqual(answered);
    expect(world.starts).toBe(2);
  });

  test('leaves other calls on the same server alone, sends it no new ones, and stops it after the last', async () => {
    const world = new World();
    const stop = new AbortController();
    const other = world.call('wait');
    await world.settled();
    const old = world.newest();
    const answerOther = old.answer;
    const calling = world.call('wait', stop.signal);
    await world.settled();

    stop.abort();
    await calling;
    expect(old.stops).toBe(0);
    expect(await world.call()).toEqual(answered);
    expect(old.calls).toEqual(['wait', 'wait', 'cancel wait']);

    answerOther(ok);
    expect(await other).toEqual(answered);
    expect(old.stops).toBe(1);
  });
});

describe('a call that takes too long', () => {
  test('is cancelled at its timeout and ends as timed out', async () => {
    const world = new World();
    const calling = world.call('wait');

    await world.clock.advance(59_999);
    expect(world.newest().calls).toEqual(['wait']);
    await world.clock.advance(1);

    expect(await calling).toMatchObject({ kind: 'broken', reason: 'timeout', notStarted: false });
    expect(world.newest().calls).toEqual(['wait', 'cancel wait']);
    expect(world.clock.sleeping).toBe(0);
  });
});

describe('a call that the server refuses', () => {
  test('is answered, as an error for the model', async () => {
    const world = new World();
    const calling = world.call('wait');
    await world.settled();

    world.newest().answer({ kind: 'refused', code: -32_602, message: 'Unknown tool' });

    expect(await calling).toEqual({ kind: 'answered', text: 'Unknown tool (JSON-RPC error -32602)', isError: true });
  });
});

describe('closing', () => {
  test('waits for a start that is under way, and stops what it came to', async () => {
    const world = new World();
    let begin: (connection: Connection) => void = () => undefined;
    world.start = () => new Promise((resolve) => (begin = resolve));
    const calling = world.call();
    await world.settled();

    const closing = world.server.close();
    const late = new ScriptedConnection();
    begin(late);
    await closing;

    expect(late.stops).toBe(1);
    expect(await calling).toBeDefined();
    expect(world.server.health()).toMatchObject({ state: 'idle', lastError: null });
  });

  test('ends a back-off at once, without a start', async () => {
    const world = new World();
    world.start = refuse;
    await world.call();
    const waiting = world.call();

    await world.server.close();

    expect(await waiting).toMatchObject({
      reason: 'unavailable',
      message: expect.stringContaining('stopping') as unknown,
    });
    expect(world.starts).toBe(1);
  });
});
