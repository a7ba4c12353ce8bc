import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../../../core/ports/clock.ts';
import { closeCodes } from '../../../protocol/limits.ts';
import type { ConnectionHandler, OpenConnection, Peer, SocketPrincipal } from './peer.ts';

export interface ConnectionOptions {
  /** What the frames are written to: it can keep them back and write all at once. */
  readonly stream: Pick<Duplex, 'cork' | 'uncork'>;
  readonly clock: Clock;
  readonly pingIntervalMs: number;
  /** Events that would make the backlog longer than this are refused; live ones are dropped at a quarter of it. */
  readonly maxEventBacklogBytes: number;
  /** A client that lets its answers pile up beyond this is disconnected. */
  readonly maxBacklogBytes: number;
  readonly onClosed: (connection: SocketConnection) => void;
}

/** How long a client may take to answer a close before its socket is cut. */
const closeGraceMs = 2_000;

/**
 * One socket: frames in and out, backlog, pings, end.
 *
 * S1: a frame is only handed to the socket if the backlog and the frame together fit; `ws` itself keeps everything.
 * S2: a client that misses one pong is gone, whatever TCP says.
 * S3: what is sent within one turn of the event loop leaves in one write: a write costs more than most frames.
 */
export class SocketConnection implements Peer {
  readonly #socket: WebSocket;
  readonly #options: ConnectionOptions;
  readonly #handler: ConnectionHandler;
  readonly #ended = new AbortController();
  #heard = true;
  #gathers = false;
  #waitingForDrain: (() => void)[] = [];

  constructor(socket: WebSocket, principal: SocketPrincipal, open: OpenConnection, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('error', () => {
      // `ws` has the close code for what the client did wrong; without a listener the process would die of it.
      this.#cutAfterGrace();
    });
    socket.on('close', () => {
      this.#closed();
    });
    socket.on('pong', () => {
      this.#heard = true;
    });
    this.#handler = open(this, principal);
    socket.on('message', (data, isBinary) => {
      this.#receive(data as Buffer, isBinary); // with `ws`'s default binary type it is a Buffer
    });
    void this.#watch();
  }

  reply(frame: Uint8Array): void {
    if (!this.#fits(frame, this.#options.maxBacklogBytes)) {
      this.close(closeCodes.tryAgainLater, 'answers are not read');
      return;
    }
    this.#send(frame);
  }

  event(frame: Uint8Array): boolean {
    if (!this.#fits(frame, this.#options.maxEventBacklogBytes)) return false;
    this.#send(frame);
    return true;
  }

  liveEvent(frame: Uint8Array): void {
    if (this.#fits(frame, this.#options.maxEventBacklogBytes / 4)) this.#send(frame);
  }

  drained(): Promise<void> {
    if (this.#isDrained()) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForDrain.push(resolve));
  }

  close(code: number, reason: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.close(code, reason);
    this.#cutAfterGrace();
  }

  /** Ends the connection without a word. */
  terminate(): void {
    this.#socket.terminate();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#heard = true;
    if (isBinary) this.close(closeCodes.unsupportedData, 'one JSON-RPC message for each text frame');
    else if (this.#socket.readyState === this.#socket.OPEN) this.#handler.receive(data.toString('utf8'));
  }

  #fits(frame: Uint8Array, maxBytes: number): boolean {
    return this.#socket.bufferedAmount + frame.byteLength <= maxBytes;
  }

  #send(frame: Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#gather();
    this.#socket.send(frame, asText, this.#sent);
  }

  #gather(): void {
    if (this.#gathers) return;
    this.#gathers = true;
    const { stream } = this.#options;
    stream.cork();
    setImmediate(() => {
      this.#gathers = false;
      stream.uncork();
    });
  }

  readonly #sent = (error?: Error): void => {
    if (error) this.terminate();
    if (this.#waitingForDrain.length > 0 && this.#isDrained()) this.#wake();
  };

  #isDrained(): boolean {
    const { readyState, bufferedAmount, OPEN } = this.#socket;
    return readyState !== OPEN || bufferedAmount <= this.#options.maxEventBacklogBytes / 8;
  }

  #wake(): void {
    for (const resolve of this.#waitingForDrain.splice(0)) resolve();
  }

  async #watch(): Promise<void> {
    const { clock, pingIntervalMs } = this.#options;
    let lastMs = clock.monotonicMs();
    while (!this.#ended.signal.aborted) {
      await clock.sleep(pingIntervalMs, this.#ended.signal);
      // After the sleep of a laptop every client looks dead: what it sent meanwhile has not been read yet.
      const overslept = clock.monotonicMs() - lastMs > 1.5 * pingIntervalMs;
      lastMs = clock.monotonicMs();
      if (!this.#heard && !overslept) this.terminate();
      else if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
      this.#heard = false;
    }
  }

  #cutAfterGrace(): void {
    void this.#options.clock.sleep(closeGraceMs, this.#ended.signal).then(() => {
      this.terminate();
    });
  }

  #closed(): void {
    this.#ended.abort();
    this.#handler.closed();
    this.#wake();
    this.#options.onClosed(this);
  }
}

const asText = { binary: false };
