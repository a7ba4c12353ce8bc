import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { ServerFrame } from '../../support/fake-peer.ts';
import { aToken } from '../../support/served-gateway.ts';

/** A frame of the client, as far as a test looks at it. */
export interface ClientFrame {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/**
 * Stands between a client and a gateway: keeps what the client sends, and does to the frames and connections what a bad
 * network does.
 */
export class MeddlingProxy {
  readonly sent: ClientFrame[] = [];
  /** What becomes of a frame from the gateway: null swallows it. */
  fromGateway: (frame: ServerFrame) => ServerFrame | null = (frame) => frame;
  /** Whether a frame from the client gets through. */
  fromClient: (frame: ClientFrame) => boolean = () => true;
  /** How many connections were ever made. */
  connections = 0;
  readonly #server: WebSocketServer;
  readonly #clients = new Set<WebSocket>();
  #target: string;
  #watchers: (() => void)[] = [];

  private constructor(server: WebSocketServer, target: string) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (client) => {
      this.#join(client);
    });
  }

  static async before(target: string): Promise<MeddlingProxy> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'holdfast.v1' });
    await once(server, 'listening');
    return new MeddlingProxy(server, target);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/rpc`;
  }

  /** From now on connections lead there. */
  leadTo(target: string): void {
    this.#target = target;
  }

  /** Cuts every connection as a broken network does. */
  cut(): void {
    for (const client of this.#clients) client.terminate();
  }

  /** Sends a frame to every client as if it came from the gateway. */
  inject(frame: unknown): void {
    for (const client of this.#clients) client.send(JSON.stringify(frame));
  }

  /** Resolves when the client has sent a frame that fits, in the past or the future. */
  async clientSent(fits: (frame: ClientFrame) => boolean): Promise<ClientFrame> {
    for (;;) {
      const found = this.sent.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  sentMethod(method: string): readonly ClientFrame[] {
    return this.sent.filter((frame) => frame.method === method);
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: WebSocket): void {
    this.connections += 1;
    this.#clients.add(client);
    const early: string[] = [];
    const gateway = new WebSocket(this.#target, ['holdfast.v1'], { headers: { authorization: `Bearer ${aToken}` } });
    gateway.on('open', () => {
      for (const text of early.splice(0)) gateway.send(text);
    });
    gateway.on('message', (data: Buffer) => {
      const frame = this.fromGateway(JSON.parse(data.toString()) as ServerFrame);
      if (frame !== null) client.send(JSON.stringify(frame));
    });
    client.on('message', (data: Buffer) => {
      const text = data.toString();
      const frame = JSON.parse(text) as ClientFrame;
      this.sent.push(frame);
      for (const wake of this.#watchers.splice(0)) wake();
      if (!this.fromClient(frame)) return;
      if (gateway.readyState === WebSocket.OPEN) gateway.send(text);
      else early.push(text);
    });
    gateway.on('close', (code) => {
      if (code === 1006 || code === 1005) client.terminate();
      else client.close(code);
    });
    gateway.on('error', () => undefined); // 'close' follows
    client.on('close', () => {
      this.#clients.delete(client);
      gateway.terminate();
    });
  }
}
