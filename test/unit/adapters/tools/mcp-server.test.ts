import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import { RecordingLogger } from '../../../../src/adapters/outbound/memory/recording-logger.ts';
import {
  ConnectionError,
  type CallAnswer,
  type Connection,
} from '../../../../src/adapters/outbound/tools/connection.ts';
import { McpServer } from '../../../../src/adapters/outbound/tools/mcp-server.ts';
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

function aWorld() {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const connections: ScriptedConnection[] = [];
  const world = {
    clock,
    logger,
    connections,
    /** What the next starts come to: by default a connection. */
    start: async (_signal: AbortSignal): Promise<Connection> => new ScriptedConnection(),
    starts: 0,
    newest: () => connections.at(-1) ?? new ScriptedConnection(),
    server: new McpServer(aServer({ name: 'files', timeoutMs: 60_000, startupTimeoutMs: 9_000 }), {
      open: async (signal) => {
        world.starts += 1;
        const connection = await world.start(signal);
        if (connection instanceof ScriptedConnection) connections.push(connection);
        return connection;
      },
      clock,
      logger,
    }),
  };
  return world;
}

const refuse = async (): Promise<Connection> => {
  throw new ConnectionError('it answered with HTTP 503');
};

const call = ({ server }: ReturnType<typeof aWorld>, tool = 'ok', signal = noSignal) => server.call(tool, {}, signal);

/** Lets everything happen that needs no time. */
const settled = ({ clock }: ReturnType<typeof aWorld>) => clock.advance(0);

describe('a server that is needed by many at once', () => {
  test('is started once, and one who stops waiting stops nobody else', async () => {
    const world = aWorld();
    let begin: (connection: Connection) => void = () => undefined;
    world.start = () => new Promise((resolve) => (begin = resolve));
    const stop = new AbortController();

    const first = call(world, 'ok', stop.signal);
    const others = [call(world), world.server.tools(noSignal)];
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
    const world = aWorld();
    const waits: number[] = [];
    for (let crash = 0; crash < 3; crash += 1) {
      const before = world.clock.monotonicMs();
      const listing = world.server.tools(noSignal);
      while (world.connections.length === crash) await world.clock.advance(500);
      await listing;
      waits.push(world.clock.monotonicMs() - before);
      world.newest().end('its process ended with code 1');
      await settled(world);
    }
    expect(waits).toEqual([0, 1_000, 2_000]);
    expect(world.server.health()).toEqual({
      server: 'files',
      state: 'backing_off',
      tools: null,
      restarts: 2,
      lastError: 'its process ended with code 1',
    });

    const answering = call(world);
    await world.clock.advance(4_000);
    await answering;
    world.newest().end('its process ended with code 1');
    await settled(world);

    const next = call(world);
    await world.clock.advance(1_000);
    expect(await next).toEqual(answered);
  });

  test('after a long and steady run has no earlier failure held against it', async () => {
    const world = aWorld();
    for (const aliveMs of [0, 60_000]) {
      const listing = world.server.tools(noSignal);
      await world.clock.advance(1_000);
      await listing;
      await world.clock.advance(aliveMs);
      world.newest().end('its process ended with code 1');
      await settled(world);
    }

    const listing = world.server.tools(noSignal);
    await world.clock.advance(999);
    expect(world.starts).toBe(2);
    await world.clock.advance(1);
    await listing;
    expect(world.starts).toBe(3);
  });

  test('ends its calls, none of which is sent again', async () => {
    const world = aWorld();
    const calling = call(world, 'wait');
    await settled(world);

    world.newest().answer({ kind: 'lost', why: 'its process ended with code 1', notStarted: false, broken: true });

    expect(await calling).toMatchObject({ kind: 'broken', reason: 'unavailable', notStarted: false });
    expect(world.newest().calls).toEqual(['wait']);
    expect(world.starts).toBe(1);
  });
});

describe('a server that can not be started', () => {
  test('is tried again with growing distance, refuses at once what would wait too long, and is given up', async () => {
    const world = aWorld();
    world.start = refuse;
    const triesAt: number[] = [];
    for (let second = 0; second <= 400; second += 1) {
      const { starts } = world;
      const calling = call(world);
      await world.clock.advance(1_000);
      expect(await Promise.race([calling, 'waits'])).toSatisfy((outcome) => outcome === 'waits' || outcome !== null);
      if (world.starts > starts) triesAt.push(second);
    }

    expect(triesAt).toEqual([0, 1, 3, 7, 15, 31, 331]);
    expect(world.server.health()).toMatchObject({ state: 'failed', lastError: 'it answered with HTTP 503' });
    expect(await call(world)).toEqual({
      kind: 'broken',
      reason: 'unavailable',
      message:
        'The call to the tool server "files" was not sent, because it answered with HTTP 503 (next try in 231 s); it had no effect.',
      notStarted: true,
    });
  });

  test('is reported once for each failure, not for each who asks', async () => {
    const world = aWorld();
    world.start = refuse;

    await Promise.all([call(world), call(world), world.server.tools(noSignal)]);

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
    const world = aWorld();
    const stop = new AbortController();

    const calling = call(world, 'wait', stop.signal);
    stop.abort();

    expect(await calling).toMatchObject({ reason: 'aborted', notStarted: true });
    await settled(world);
    expect(world.newest().calls).toEqual([]);
  });

  test('leaves a server that heeds it running', async () => {
    const world = aWorld();
    const stop = new AbortController();
    const calling = call(world, 'wait', stop.signal);
    await settled(world);
    world.newest().heeds = true;

    stop.abort();

    expect(await calling).toMatchObject({ reason: 'aborted', notStarted: false });
    expect(world.newest().calls).toEqual(['wait', 'cancel wait']);
    expect([world.newest().stops, world.server.health().state]).toEqual([0, 'ready']);
  });

  test('has a server that does not heed it stopped before it ends, and no failure counted', async () => {
    const world = aWorld();
    const stop = new AbortController();
    const calling = call(world, 'wait', stop.signal);
    await settled(world);

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
    expect(await call(world)).toEqual(answered);
    expect(world.starts).toBe(2);
  });

  test('leaves other calls on the same server alone, sends it no new ones, and stops it after the last', async () => {
    const world = aWorld();
    const stop = new AbortController();
    const other = call(world, 'wait');
    await settled(world);
    const old = world.newest();
    const answerOther = old.answer;
    const calling = call(world, 'wait', stop.signal);
    await settled(world);

    stop.abort();
    await calling;
    expect(old.stops).toBe(0);
    expect(await call(world)).toEqual(answered);
    expect(old.calls).toEqual(['wait', 'wait', 'cancel wait']);

    answerOther(ok);
    expect(await other).toEqual(answered);
    expect(old.stops).toBe(1);
  });
});

describe('a call that takes too long', () => {
  test('is cancelled at its timeout and ends as timed out', async () => {
    const world = aWorld();
    const calling = call(world, 'wait');

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
    const world = aWorld();
    const calling = call(world, 'wait');
    await settled(world);

    world.newest().answer({ kind: 'refused', code: -32_602, message: 'Unknown tool' });

    expect(await calling).toEqual({ kind: 'answered', text: 'Unknown tool (JSON-RPC error -32602)', isError: true });
  });
});

describe('closing', () => {
  test('waits for a start that is under way, and stops what it came to', async () => {
    const world = aWorld();
    let begin: (connection: Connection) => void = () => undefined;
    world.start = () => new Promise((resolve) => (begin = resolve));
    const calling = call(world);

    const closing = world.server.close();
    const late = new ScriptedConnection();
    begin(late);
    await closing;

    expect(late.stops).toBe(1);
    expect(await calling).toBeDefined();
    expect(world.server.health()).toMatchObject({ state: 'idle', lastError: null });
  });

  test('ends a back-off at once, without a start', async () => {
    const world = aWorld();
    world.start = refuse;
    await call(world);
    const waiting = call(world);

    await world.server.close();

    expect(await waiting).toMatchObject({
      reason: 'unavailable',
      message: expect.stringContaining('stopping') as unknown,
    });
    expect(world.starts).toBe(1);
  });
});
