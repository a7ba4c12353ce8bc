import { request } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { ServerFrame } from './fake-peer.ts';
import { aToken } from './served-gateway.ts';

/** A client that sends what it is told to, right or wrong, and keeps what comes. */
export class SocketClient {
  readonly socket: WebSocket;
  readonly frames: ServerFrame[] = [];
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  #watchers: (() => void)[] = [];
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()) as ServerFrame);
      this.#wake();
    });
    socket.on('error', () => undefined); // 'close' follows
    this.closed = new Promise((resolve) => {
      socket.on('close', (code) => {
        resolve(code);
        this.#wake();
      });
    });
  }

  /** Connects and waits for the greeting. */
  static async connect(url: string, options: { autoPong?: boolean } = {}): Promise<SocketClient> {
    const headers = { authorization: `Bearer ${aToken}` };
    const client = new SocketClient(new WebSocket(url, ['holdfast.v1'], { headers, ...options }));
    await client.event('gateway.ready');
    return client;
  }

  async request(method: string, params: unknown = {}): Promise<ServerFrame> {
    const id = (this.#lastId += 1);
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return this.frame((frame) => frame.id === id);
  }

  async call(method: string, params: unknown = {}): Promise<Record<string, unknown>> {
    const { result, error } = await this.request(method, params);
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async event(type: string): Promise<NonNullable<ServerFrame['params']>> {
    const { params } = await this.frame((frame) => frame.params?.type === type);
    if (params === undefined) throw new Error('an event has parameters');
    return params;
  }

  async frame(fits: (frame: ServerFrame) => boolean): Promise<ServerFrame> {
    for (;;) {
      const found = this.frames.find(fits);
      if (found !== undefined) return found;
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error('the connection was closed');
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  get events(): readonly NonNullable<ServerFrame['params']>[] {
    return this.frames.flatMap(({ params }) => (params === undefined ? [] : [params]));
  }

  #wake(): void {
    for (const wake of this.#watchers.splice(0)) wake();
  }
}

export interface UpgradeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Asks for an upgrade with exactly these headers beside those of the handshake. */
export function tryUpgrade(port: number, headers: Record<string, string> = {}, path = '/rpc'): Promise<UpgradeAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers: { ...handshake, ...headers }, agent: false });
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: 101, headers: response.headers, body: '' });
    });
    sent.on('response', (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** An open WebSocket as a bare TCP connection: it sends the bytes it is told to and never answers a ping. */
export function bareSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject);
    const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${aToken}`, ...handshake };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.write(`GET /rpc HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    socket.once('data', () => {
      socket.off('error', reject);
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}
