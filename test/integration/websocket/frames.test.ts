import { connect } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defaultConnectionLimits } from '../../../src/protocol/limits.ts';
import { serveGateway } from '../../support/served-gateway.ts';
import type { ServedGateway } from '../../support/served-gateway.ts';
import { bareSocket, SocketClient } from '../../support/socket-client.ts';

let gateway: ServedGateway;

beforeEach(async () => {
  gateway = await serveGateway({
    rpc: { limits: { ...defaultConnectionLimits, max_frame_bytes: 64 * 1024 } },
    socket: { handshakeTimeoutMs: 200 },
  });
});
afterEach(() => gateway.server.close());

/** A text frame of a client, masked with zeros. */
function textFrame(payload: Buffer, firstByte = 0x81): Buffer {
  return Buffer.concat([Buffer.from([firstByte, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

async function stillServes(): Promise<void> {
  const client = await SocketClient.connect(gateway.url);
  await client.call('ping');
  client.socket.terminate();
}

describe('a bad frame', () => {
  test('that is binary ends the connection with 1003', async () => {
    const client = await SocketClient.connect(gateway.url);

    client.socket.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}'));

    expect(await client.closed).toBe(1003);
    await stillServes();
  });

  test('that is too large ends the connection with 1009', async () => {
    const client = await SocketClient.connect(gateway.url);

    client.socket.send('x'.repeat(64 * 1024 + 1));

    expect(await client.closed).toBe(1009);
    await stillServes();
  });

  test('of many pieces that are too large together ends the connection with 1009', async () => {
    const client = await SocketClient.connect(gateway.url);

    for (let piece = 0; piece < 70; piece += 1) client.socket.send('x'.repeat(1024), { fin: false });

    expect(await client.closed).toBe(1009);
  });

  test('of countless tiny pieces ends the connection', async () => {
    const client = await SocketClient.connect(gateway.url);

    for (let piece = 0; piece < 2_000; piece += 1) client.socket.send('x', { fin: false });

    expect([1008, 1009]).toContain(await client.closed);
  });

  test('that is no UTF-8 ends the connection with 1007', async () => {
    const socket = await bareSocket(gateway.port);
    const answer = once(socket, 'data') as Promise<[Buffer]>;

    socket.write(textFrame(Buffer.from([0xc3, 0x28])));

    const [data] = await answer;
    expect(data.subarray(-4).includes(Buffer.from([0x03, 0xef]))).toBe(true);
    socket.destroy();
    await stillServes();
  });

  test('that is not masked ends the connection with 1002', async () => {
    const socket = await bareSocket(gateway.port);
    const closed = once(socket, 'close');
    let received = Buffer.alloc(0);
    socket.on('data', (data: Buffer) => (received = Buffer.concat([received, data])));

    socket.write(Buffer.from([0x81, 0x02, 0x7b, 0x7d]));

    await closed;
    expect(received.includes(Buffer.from([0x03, 0xea]))).toBe(true);
  });

  test.each([
    ['broken JSON', '{"jsonrpc":', -32700],
    ['JSON that is nested too deep', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, -32600],
    ['wrong types', '{"jsonrpc":"2.0","id":true,"method":7}', -32600],
  ])('of %s is answered, and the connection stays', async (_, text, code) => {
    const client = await SocketClient.connect(gateway.url);

    client.socket.send(text);

    expect(await client.frame(({ error }) => error !== undefined)).toMatchObject({ id: null, error: { code } });
    await client.call('ping');
  });
});

describe('a client that says nothing', () => {
  /** Resolves when a TCP connection on which only this was sent is cut. */
  function silent(text: string): Promise<unknown> {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(text);
    socket.on('error', () => undefined);
    return once(socket.resume(), 'close');
  }

  test('at all is cut after a short while', async () => {
    await silent('');
  });

  test('but its headers drop by drop is cut too', async () => {
    await silent('GET /rpc HTTP/1.1\r\nHost: ');
  });

  test('of HTTP is told so and cut', async () => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => undefined);
    let answer = '';
    socket.on('data', (data: Buffer) => (answer += data.toString()));
    socket.write('nonsense\r\n\r\n');

    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});
