import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { SocketConnection } from '../../../src/adapters/inbound/websocket/connection.ts';
import type { Clock } from '../../../src/core/ports/clock.ts';
import { FakeClock } from '../../../src/adapters/outbound/memory/fake-clock.ts';

/** A socket whose backlog the test decides on. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  readonly closes: [number, string][] = [];
  pings = 0;
  writes = 0;
  #corks = 0;
  #flushed: ((error?: Error) => void)[] = [];

  send(frame: Uint8Array, _options: unknown, flushed: (error?: Error) => void): void {
    this.sent.push(Buffer.from(frame).toString());
    this.#flushed.push(flushed);
  }

  /** What was sent has left, and so much is still in line. */
  flush(bufferedAmount: number, error?: Error): void {
    this.bufferedAmount = bufferedAmount;
    for (const flushed of this.#flushed.splice(0)) flushed(error);
  }

  cork(): void {
    this.#corks += 1;
  }

  uncork(): void {
    this.#corks -= 1;
    if (this.#corks === 0) this.writes += 1;
  }

  ping(): void {
    this.pings += 1;
  }

  close(code: number, reason: string): void {
    this.closes.push([code, reason]);
    this.readyState = 2;
  }

  terminate(): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.emit('close', 1006);
  }
}

let socket: FakeSocket;
let clock: FakeClock;
let connection: SocketConnection;
let received: string[];
let ends: number;

beforeEach(() => {
  socket = new FakeSocket();
  clock = new FakeClock();
  received = [];
  ends = 0;
  connect(clock);
});

function connect(clockOfIt: Clock): void {
  const handler = { receive: (text: string) => received.push(text), closed: () => (ends += 1) };
  // The connection uses only what the fake has.
  connection = new SocketConnection(
    socket as unknown as WebSocket,
    { principalId: 'local', scopes: [] },
    () => handler,
    {
      stream: socket,
      clock: clockOfIt,
      pingIntervalMs: 20_000,
      maxEventBacklogBytes: 1_000,
      maxBacklogBytes: 5_000,
      onClosed: () => undefined,
    },
  );
}

test('what is sent within one turn of the event loop leaves in one write', async () => {
  connection.reply(frame(10));
  connection.event(frame(10));
  await Promise.resolve();
  connection.liveEvent(frame(10));
  expect(socket.writes).toBe(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect(socket.writes).toBe(1);

  connection.event(frame(10));
  await new Promise((resolve) => setImmediate(resolve));
  expect([socket.sent.length, socket.writes]).toEqual([4, 2]);
});

const frame = (bytes: number): Uint8Array => Buffer.alloc(bytes, 'x');

describe('the backlog of a connection', () => {
  // E19: a client just under the limit got one more huge frame.
  test.each([
    [0, 1_000, true],
    [0, 1_001, false],
    [999, 1, true],
    [999, 2, false],
    [1_000, 1, false],
  ])('of %i bytes and an event of %i: sent is %s', (backlog, bytes, isSent) => {
    socket.bufferedAmount = backlog;

    expect(connection.event(frame(bytes))).toBe(isSent);
    expect(socket.sent).toHaveLength(isSent ? 1 : 0);
  });

  test('drops live events long before durable ones', () => {
    socket.bufferedAmount = 250;
    connection.liveEvent(frame(1));

    expect(socket.sent).toEqual([]);
    expect(connection.event(frame(1))).toBe(true);
  });

  test('still takes answers when events are refused, and ends the connection when answers pile up', () => {
    socket.bufferedAmount = 4_000;
    connection.reply(frame(1_000));
    socket.bufferedAmount = 5_000;
    connection.reply(frame(1));

    expect(socket.sent).toHaveLength(1);
    expect(socket.closes).toEqual([[1013, 'answers are not read']]);
  });

  test('is drained when little is left of it', async () => {
    socket.bufferedAmount = 900;
    connection.event(frame(10));
    let isDrained = false;
    void connection.drained().then(() => (isDrained = true));

    socket.flush(500);
    await Promise.resolve();
    const before = isDrained;
    connection.event(frame(10));
    socket.flush(125);
    await Promise.resolve();

    expect([before, isDrained]).toEqual([false, true]);
  });

  test('counts as drained when the client has gone, so that nobody waits for ever', async () => {
    socket.bufferedAmount = 900;
    const drained = connection.drained();

    socket.terminate();

    await drained;
    await connection.drained();
  });

  test('whose frame can’t be written ends the connection', () => {
    connection.event(frame(10));

    socket.flush(0, new Error('EPIPE'));

    expect([socket.readyState, ends]).toEqual([3, 1]);
  });
});

describe('a client that falls silent', () => {
  // E20: a heartbeat was advertised, and nobody acted on it.
  test('is cut after one missed pong', async () => {
    await clock.advance(20_000);
    const afterFirst = [socket.pings, socket.readyState];
    await clock.advance(20_000);

    expect(afterFirst).toEqual([1, 1]);
    expect([socket.readyState, ends]).toEqual([3, 1]);
  });

  test('is kept while it answers', async () => {
    for (let round = 0; round < 5; round += 1) {
      await clock.advance(20_000);
      socket.emit('pong');
    }

    expect([socket.pings, socket.readyState]).toEqual([5, 1]);
  });

  test('is kept while it speaks, for a message says as much as a pong', async () => {
    for (let round = 0; round < 5; round += 1) {
      await clock.advance(20_000);
      socket.emit('message', Buffer.from('{}'), false);
    }

    expect([received.length, socket.readyState]).toEqual([5, 1]);
  });

  test('is asked again and not cut when this machine itself has slept', async () => {
    let nowMs = 0;
    let wake = (): void => undefined;
    const sleepy: Clock = {
      now: () => clock.now(),
      monotonicMs: () => nowMs,
      sleep: () => new Promise((resolve) => (wake = resolve)),
    };
    connect(sleepy);
    const sleepFor = async (ms: number): Promise<unknown[]> => {
      nowMs += ms;
      wake();
      await Promise.resolve();
      await Promise.resolve();
      return [socket.pings, socket.readyState];
    };

    const steps = [await sleepFor(20_000), await sleepFor(3_600_000), await sleepFor(20_000)];

    expect(steps).toEqual([
      [1, 1],
      [2, 1],
      [2, 3],
    ]);
  });

  test('leaves no timer behind', async () => {
    socket.terminate();
    await clock.advance(0);

    expect(clock.sleeping).toBe(0);
  });
});

describe('a connection that ends', () => {
  test('takes no further message and sends none', () => {
    connection.close(1012, 'the gateway stops');
    socket.emit('message', Buffer.from('{}'), false);
    connection.reply(frame(1));
    connection.close(1013, 'again');

    expect([received, socket.sent, socket.closes]).toEqual([[], [], [[1012, 'the gateway stops']]]);
  });

  test('is cut when the client does not say goodbye', async () => {
    connection.close(1012, 'the gateway stops');
    await clock.advance(2_000);

    expect([socket.readyState, ends]).toEqual([3, 1]);
  });
});
