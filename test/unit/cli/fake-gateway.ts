import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { onTestFinished } from 'vitest';
import { writeGatewayFile } from '../../../src/config/gateway-file.ts';
import type { ErrorReason } from '../../../src/protocol/errors.ts';
import { defaultConnectionLimits } from '../../../src/protocol/limits.ts';
import type { MethodName, ParamsOf, ResultOf } from '../../../src/protocol/registry.ts';
import { errors } from '../../../src/protocol/errors.ts';

export const token = 'token-of-the-fake-gateway-123456789';

/** What a script answers: a result, a refusal, or nothing at all. */
type Handler<N extends MethodName> = (params: ParamsOf<N>, gateway: FakeGateway) => ResultOf<N> | Refused | null;
export type Script = { readonly [N in MethodName]?: Handler<N> };

export class Refused {
  readonly reason: ErrorReason;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(reason: ErrorReason, message: string, data: Readonly<Record<string, unknown>> = {}) {
    this.reason = reason;
    this.message = message;
    this.data = data;
  }
}

/** A gateway on a real socket that answers what a test tells it to. */
export class FakeGateway {
  readonly calls: { readonly method: string; readonly params: unknown }[] = [];
  readonly #server: WebSocketServer;
  readonly #script: Script;

  private constructor(server: WebSocketServer, script: Script) {
    this.#server = server;
    this.#script = script;
    server.on('connection', (socket) => this.#greet(socket));
  }

  /** Starts it and announces it in the home folder. */
  static async start(home: string, script: Script, port = 0): Promise<FakeGateway> {
    const server = new WebSocketServer({
      port,
      host: '127.0.0.1',
      path: '/rpc',
      handleProtocols: () => 'holdfast.v1',
      verifyClient: ({ req }: { req: IncomingMessage }) => req.headers.authorization === `Bearer ${token}`,
    });
    await new Promise((resolve) => server.once('listening', resolve));
    const gateway = new FakeGateway(server, script);
    onTestFinished(() => gateway.kill());
    writeGatewayFile(home, {
      url: gateway.url,
      token,
      pid: process.pid,
      instance_id: 'instance',
      epoch: 1,
      state: 'ready',
      version: '0.1.0',
      protocol: 'holdfast.v1',
    });
    return gateway;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens at a TCP port
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/rpc`;
  }

  /** Ends it as kill -9 does: sockets break, and the file stays. */
  kill(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }

  event(event: Readonly<Record<string, unknown>>): void {
    for (const socket of this.#server.clients) send(socket, { method: 'event', params: event });
  }

  paramsOf(method: MethodName): readonly unknown[] {
    return this.calls.filter((call) => call.method === method).map(({ params }) => params);
  }

  #greet(socket: WebSocket): void {
    send(socket, { method: 'event', params: ready });
    socket.on('message', (data: Buffer) => this.#answer(socket, data.toString('utf8')));
  }

  #answer(socket: WebSocket, frame: string): void {
    const { id, method, params } = JSON.parse(frame) as { id: number; method: MethodName; params: never }; // our client sends it
    this.calls.push({ method, params });
    const handler = this.#script[method] as Handler<MethodName> | undefined; // the table's type can't be followed here
    const answer = handler === undefined ? new Refused('internal', `no script for ${method}`) : handler(params, this);
    if (answer === null) return;
    if (!(answer instanceof Refused)) {
      send(socket, { id, result: answer });
      return;
    }
    const { code, retryable } = errors[answer.reason];
    const data = { reason: answer.reason, retryable, ...answer.data };
    send(socket, { id, error: { code, message: answer.message, data } });
  }
}

const ready = {
  type: 'gateway.ready',
  at: '2030-01-01T00:00:00.000Z',
  epoch: 1,
  payload: {
    protocol: 'holdfast.v1',
    version: '0.1.0',
    state: 'ready',
    instance_id: 'instance',
    store_id: 'store',
    principal: 'local',
    scopes: ['read', 'write', 'admin'],
    limits: defaultConnectionLimits,
  },
};

function send(socket: WebSocket, message: Readonly<Record<string, unknown>>): void {
  socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
}
