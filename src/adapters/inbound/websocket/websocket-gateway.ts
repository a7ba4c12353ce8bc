import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { Clock } from '../../../core/ports/clock.ts';
import type { Logger } from '../../../core/ports/logger.ts';
import { closeCodes, protocolName } from '../../../protocol/limits.ts';
import type { Authenticate } from './authenticate.ts';
import { SocketConnection } from './connection.ts';
import { FailureLimit } from './failure-limit.ts';
import { judgeUpgrade } from './judge-upgrade.ts';
import type { UpgradePolicy } from './judge-upgrade.ts';
import type { OpenConnection, SocketPrincipal } from './peer.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';

export interface WebSocketGatewayOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Further names of this gateway, as a Host header says them; one without a port stands for every port. */
  readonly hosts: readonly string[];
  /** Origins of pages that may connect. `null`, which sandboxed pages send, counts only when it is listed. */
  readonly allowedOrigins: readonly string[];
  readonly authenticate: Authenticate;
  readonly maxFrameBytes: number;
  readonly maxConnections: number;
  readonly maxEventBacklogBytes: number;
  readonly maxBacklogBytes: number;
  readonly pingIntervalMs: number;
  /** How long a client may take for the headers of its request, its silence before them included. */
  readonly handshakeTimeoutMs?: number;
  /** How many failed attempts of an address are answered as such in a minute. */
  readonly maxFailuresPerMinute: number;
  /** Whether clients are served: not before recovery is finished. */
  readonly isOpen: () => boolean;
  readonly open: OpenConnection;
  /** Answers plain HTTP requests. */
  readonly onRequest: RequestListener;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const defaultSocketLimits = {
  maxConnections: 256,
  maxEventBacklogBytes: 8 * 1024 * 1024,
  maxBacklogBytes: 32 * 1024 * 1024,
  maxFailuresPerMinute: 10,
} as const;

/** How long clients may take to say goodbye when the gateway stops. */
const closeGraceMs = 1_000;

/** The listening socket and everybody who is connected to it. */
export class WebSocketGateway {
  readonly #options: WebSocketGatewayOptions;
  readonly #http: Server;
  readonly #sockets: WebSocketServer;
  readonly #failures: FailureLimit;
  readonly #connections = new Set<SocketConnection>();
  #policy: UpgradePolicy | undefined;
  #stopping = false;
  #connectionEnded: () => void = () => undefined;

  constructor(options: WebSocketGatewayOptions) {
    this.#options = options;
    this.#failures = new FailureLimit({
      maxPerMinute: options.maxFailuresPerMinute,
      nowMs: () => options.clock.monotonicMs(),
    });
    this.#http = createServer(slowClientLimits(options.handshakeTimeoutMs ?? 10_000), options.onRequest);
    // Beyond this, TCP connections are cut without an answer; below it a full gateway can say that it is full.
    this.#http.maxConnections = options.maxConnections + 64;
    this.#http.on('upgrade', (request, socket, head) => {
      this.#upgrade(request, socket, head);
    });
    this.#http.on('clientError', (_error, socket) => {
      // Whoever doesn't read the answer is cut all the same.
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n', () => socket.destroy());
      else socket.destroy();
    });
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: options.maxFrameBytes,
      maxFragments: 1_024,
      handleProtocols: (offered) => (offered.has(protocolName) ? protocolName : false),
    });
  }

  /** Begins to listen. Rejects with Node's own error, for instance when the port is taken. */
  start(): Promise<{ readonly port: number; readonly url: string }> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(port, host, () => {
        this.#http.off('error', reject);
        this.#http.on('error', (error) => {
          this.#options.logger.error('the listening socket failed', { error });
        });
        const address = this.#http.address() as AddressInfo; // it listens on TCP
        this.#policy = this.#policyFor(address.port);
        resolve({ port: address.port, url: `ws://${inUrl(host)}:${address.port}/rpc` });
      });
    });
  }

  /** How many clients are connected. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Stops listening and ends every connection with 1012. What was already handed to a socket is still sent. */
  async close(): Promise<void> {
    this.#stopping = true;
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    for (const connection of this.#connections) connection.close(closeCodes.serviceRestart, 'the gateway stops');
    this.#http.closeIdleConnections();
    const inTime = new AbortController();
    void this.#options.clock.sleep(closeGraceMs, inTime.signal).then(() => {
      for (const connection of this.#connections) connection.terminate();
      this.#http.closeAllConnections();
    });
    await closed;
    while (this.#connections.size > 0) await new Promise<void>((resolve) => (this.#connectionEnded = resolve));
    inTime.abort();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    if (this.#policy === undefined || this.#stopping) {
      socket.destroy();
      return;
    }
    const { url = '', headers } = request;
    const remoteAddress = request.socket.remoteAddress ?? '';
    const verdict = judgeUpgrade({ url, headers, remoteAddress }, this.#policy);
    if (verdict.kind === 'refused') {
      const { status, reason } = verdict.refusal;
      if (status !== 429) this.#options.logger.info('a client was refused', { status, reason, remoteAddress });
      refuseUpgrade(socket, verdict.refusal);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      this.#accept(webSocket, socket, verdict.principal);
    });
  }

  #accept(socket: WebSocket, stream: Duplex, principal: SocketPrincipal): void {
    const { open, clock, pingIntervalMs, maxEventBacklogBytes, maxBacklogBytes } = this.#options;
    const connection = new SocketConnection(socket, principal, open, {
      stream,
      clock,
      pingIntervalMs,
      maxEventBacklogBytes,
      maxBacklogBytes,
      onClosed: (closed) => {
        this.#connections.delete(closed);
        this.#connectionEnded();
      },
    });
    this.#connections.add(connection);
  }

  #policyFor(port: number): UpgradePolicy {
    const { host, hosts, allowedOrigins, authenticate, isOpen, maxConnections } = this.#options;
    const own = ['127.0.0.1', 'localhost', '[::1]', inUrl(host)];
    const withPort = own.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
    return {
      hosts: new Set([...withPort, ...hosts].map((name) => name.toLowerCase())),
      allowedOrigins: allowedOrigins.map((origin) => origin.toLowerCase()),
      authenticate,
      failures: this.#failures,
      isOpen,
      hasRoom: () => this.#connections.size < maxConnections,
    };
  }
}

/** A client that sends its headers drop by drop, or nothing at all, is cut soon: Node's defaults take minutes. */
function slowClientLimits(handshakeTimeoutMs: number): ServerOptions {
  return {
    headersTimeout: handshakeTimeoutMs,
    requestTimeout: handshakeTimeoutMs,
    connectionsCheckingInterval: Math.min(2_000, handshakeTimeoutMs),
    keepAliveTimeout: 5_000,
    maxHeaderSize: 16 * 1024,
  };
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
