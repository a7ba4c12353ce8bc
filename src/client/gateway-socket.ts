import { WebSocket } from 'ws';
import type { ReadyEvent, WireEvent } from '../protocol/events.ts';
import { eventMethod } from '../protocol/json-rpc.ts';
import type { RpcResponse } from '../protocol/json-rpc.ts';
import { protocolName } from '../protocol/limits.ts';
import { ConnectionError } from './errors.ts';

/** Answers are pages, and pages have limits: a larger frame is no gateway's. */
const maxPayloadBytes = 64 * 1024 * 1024;

export interface Endpoint {
  readonly url: string;
  readonly token: string;
  /** Only this instance of a gateway is meant, whoever has its address now. Left out: any is. */
  readonly instanceId?: string;
}

export interface SocketListener {
  answer(response: RpcResponse): void;
  event(event: WireEvent): void;
  /** The connection has ended; called once, and only after it was open. */
  lost(code: number): void;
}

/** One connection to a gateway, open from its `gateway.ready` on. */
export class GatewaySocket {
  readonly ready: ReadyEvent;
  readonly #socket: WebSocket;
  #heardAt = performance.now();

  private constructor(socket: WebSocket, ready: ReadyEvent) {
    this.#socket = socket;
    this.ready = ready;
  }

  /** Connects. Rejects with a `ConnectionError`. */
  static open(endpoint: Endpoint, timeoutMs: number, listener: SocketListener): Promise<GatewaySocket> {
    return new Promise((resolve, reject) => {
      const socket = connect(endpoint, timeoutMs);
      let opened: GatewaySocket | undefined;
      const timer = setTimeout(() => {
        fail(new ConnectionError('unreachable', 'The gateway does not greet.'));
      }, timeoutMs);
      const fail = (error: ConnectionError): void => {
        clearTimeout(timer);
        socket.terminate();
        reject(error);
      };
      socket.on('unexpected-response', (_request, response) => {
        void refusalOf(response).then(fail);
      });
      socket.on('error', (cause) => {
        if (opened === undefined) fail(new ConnectionError('unreachable', cause.message, { cause }));
      });
      socket.on('message', (data) => {
        const message = parse((data as Buffer).toString()); // with `ws`'s default binary type it is a Buffer
        if (opened !== undefined) opened.#deliver(message, listener);
        else if (message?.kind === 'event' && message.event.type === 'gateway.ready') {
          const { instanceId = message.event.payload.instance_id } = endpoint;
          if (message.event.payload.instance_id !== instanceId) {
            fail(new ConnectionError('another_gateway', 'Another gateway has this address now.'));
            return;
          }
          clearTimeout(timer);
          opened = new GatewaySocket(socket, message.event);
          opened.#watch();
          resolve(opened);
        } else fail(new ConnectionError('not_a_gateway', 'The other side does not greet as a gateway does.'));
      });
      socket.on('close', (code) => {
        if (opened === undefined) fail(new ConnectionError('unreachable', `The connection was closed with ${code}.`));
        else listener.lost(code);
      });
    });
  }

  send(frame: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(frame);
  }

  close(): void {
    this.#socket.close(1000);
    setTimeout(() => {
      this.#socket.terminate();
    }, 1_000).unref();
  }

  #deliver(message: ServerMessage | undefined, listener: SocketListener): void {
    this.#heardAt = performance.now();
    if (message === undefined) this.#socket.terminate();
    else if (message.kind === 'event') listener.event(message.event);
    else listener.answer(message.response);
  }

  /** The gateway pings; when it falls silent, the connection is dead, whatever TCP says. */
  #watch(): void {
    const intervalMs = this.ready.payload.limits.ping_interval_ms;
    this.#socket.on('ping', () => {
      this.#heardAt = performance.now();
    });
    const timer = setInterval(() => {
      if (performance.now() - this.#heardAt > 2.5 * intervalMs) this.#socket.terminate();
    }, intervalMs);
    this.#socket.on('close', () => {
      clearInterval(timer);
    });
  }
}

function connect({ url, token }: Endpoint, handshakeTimeout: number): WebSocket {
  const headers = { authorization: `Bearer ${token}` };
  return new WebSocket(url, [protocolName], {
    headers,
    handshakeTimeout,
    perMessageDeflate: false,
    maxPayload: maxPayloadBytes,
  });
}

type ServerMessage =
  { readonly kind: 'event'; readonly event: WireEvent } | { readonly kind: 'answer'; readonly response: RpcResponse };

/** Believes what the gateway sends beyond its outline: both sides are made from the same definitions. */
function parse(frame: string): ServerMessage | undefined {
  try {
    const message = JSON.parse(frame) as {
      readonly method?: unknown;
      readonly params?: unknown;
      readonly id?: unknown;
    };
    if (message.method === eventMethod) return { kind: 'event', event: message.params as WireEvent };
    if (message.id !== undefined) return { kind: 'answer', response: message as RpcResponse };
  } catch {
    // Not JSON: no gateway sends such a thing.
  }
  return undefined;
}

interface HttpAnswer {
  readonly statusCode?: number | undefined;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'error' | 'close', listener: () => void): unknown;
}

/** What an answer other than an upgrade means. */
async function refusalOf(response: HttpAnswer): Promise<ConnectionError> {
  const status = response.statusCode ?? 0;
  const message = messageIn(await bodyOf(response)) ?? `The gateway answered with HTTP ${status}.`;
  return new ConnectionError(status === 429 || status === 503 ? 'busy' : 'refused', message, { status });
}

function bodyOf(response: HttpAnswer): Promise<string> {
  return new Promise((resolve) => {
    let body = '';
    const end = (): void => {
      resolve(body);
    };
    response.on('data', (chunk) => {
      if (body.length < 10_000) body += chunk.toString();
    });
    response.on('end', end);
    response.on('error', end);
    response.on('close', end);
  });
}

function messageIn(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { error?: { message?: string } }).error?.message; // anything else fails or has none
  } catch {
    return undefined;
  }
}
