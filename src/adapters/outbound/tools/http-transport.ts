import {
  StreamableHTTPClientTransport,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../../core/ports/clock.ts';
import { boundFetch } from './bounded-fetch.ts';
import type { HttpServer } from './mcp-server-options.ts';
import { answerLost, answerTooLarge } from './substitute-answers.ts';

/** How long the server may take to hear that its session is over. */
const farewellMs = 1_000;

/**
 * MCP over streamable HTTP: the SDK's transport, with an end to each request. The SDK alone would wait for an answer
 * whose stream has broken off until the call's timeout, hold an answer of any size, and keep the request of a cancelled
 * call open for as long as the server likes.
 */
export class HttpTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: (<T extends JSONRPCMessage>(message: T) => void) | undefined;

  readonly #inner: StreamableHTTPClientTransport;
  readonly #clock: Clock;
  /** The requests that have no answer yet, each with what ends it. */
  readonly #open = new Map<RequestId, AbortController>();

  constructor({ url, headers }: HttpServer, maxMessageBytes: number, clock: Clock) {
    this.#clock = clock;
    this.#inner = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      fetch: boundFetch(fetch, { maxMessageBytes, onTooLarge: (id) => this.#substitute(answerTooLarge(id)) }),
    });
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message) => {
      if (!('method' in message) && message.id !== undefined) this.#open.delete(message.id);
      this.onmessage?.(message);
    };
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) return this.#inner.send(message);
    if (message.method === 'notifications/cancelled') return this.#cancel(message, message.params?.['requestId']);
    if (!('id' in message)) return this.#inner.send(message);
    const { id } = message;
    const request = new AbortController();
    this.#open.set(id, request);
    try {
      const onRequestStreamEnd = (): void => this.#substitute(answerLost(id));
      await this.#inner.send(message, { requestSignal: request.signal, onRequestStreamEnd });
    } catch (error) {
      this.#open.delete(id);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Tells the server that the session is over, which it may take a moment to hear, and closes. It never rejects. */
  async stop(): Promise<void> {
    const waiting = new AbortController();
    // A server without sessions has nothing to hear, and one that is gone can't.
    const farewell = this.#inner.terminateSession().catch(() => undefined);
    await Promise.race([farewell, this.#clock.sleep(farewellMs, waiting.signal)]);
    waiting.abort();
    await this.#inner.close();
  }

  /** Closing the request is all that can be done here, and that waits for nobody. */
  async heedsCancels(): Promise<boolean> {
    return true;
  }

  async #cancel(notification: JSONRPCMessage, requestId: unknown): Promise<void> {
    try {
      await this.#inner.send(notification);
    } finally {
      if (typeof requestId === 'number' || typeof requestId === 'string') this.#end(requestId);
    }
  }

  #substitute(answer: JSONRPCErrorResponse): void {
    if (answer.id === undefined || !this.#open.has(answer.id)) return;
    this.#end(answer.id);
    this.onmessage?.(answer);
  }

  #end(id: RequestId): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }
}
