import { request } from 'node:http';
import { WebSocket } from 'ws';
import type { GatewayFile } from '../../support/daemon.ts';

/** What a server does with a frame: it answers with another one, or closes the connection. */
export type Reaction =
  | { readonly kind: 'frame'; readonly text: string }
  | { readonly kind: 'closed'; readonly code: number; readonly reason: string };

/** A socket that sends whatever bytes it is given and shows every frame that is no event. */
export class Wire {
  readonly #socket: WebSocket;
  readonly #reactions: Reaction[] = [];
  #wake: () => void = () => undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      const text = data.toString('utf8');
      if (!text.includes('"method":"event"')) this.#push({ kind: 'frame', text });
    });
    socket.on('close', (code, reason) => {
      this.#push({ kind: 'closed', code, reason: reason.toString('utf8') });
    });
    socket.on('error', () => undefined); // 'close' follows
  }

  static async connect({ url, token }: GatewayFile): Promise<Wire> {
    const socket = new WebSocket(url, ['holdfast.v1'], { headers: { authorization: `Bearer ${token}` } });
    const wire = new Wire(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return wire;
  }

  /** Sends a frame, and answers what comes next. A Buffer goes out as a text frame too, whatever is in it. */
  async exchange(frame: string | Buffer, options: { readonly binary?: boolean } = {}): Promise<Reaction> {
    this.#socket.send(frame, { binary: options.binary ?? false });
    for (;;) {
      const reaction = this.#reactions.shift();
      if (reaction !== undefined) return reaction;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  close(): void {
    this.#socket.terminate();
  }

  #push(reaction: Reaction): void {
    this.#reactions.push(reaction);
    this.#wake();
  }
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** Asks for an upgrade with these headers beside the usual ones; 101 when it is granted. */
export function upgrade(
  { url }: GatewayFile,
  headers: Readonly<Record<string, string>>,
  path = '/rpc',
): Promise<HttpAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = request({
      hostname,
      port,
      path,
      agent: false,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        ...headers,
      },
    });
    asked.once('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, body: '' });
    });
    asked.once('response', (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, body });
      });
    });
    asked.once('error', reject);
    asked.end();
  });
}
