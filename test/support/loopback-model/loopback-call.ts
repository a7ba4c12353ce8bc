import type { ServerResponse } from 'node:http';
import type { RecordedRequest } from './loopback-model.ts';

/** One request in the hands of the script that answers it. */
export class LoopbackCall {
  readonly request: RecordedRequest;
  readonly response: ServerResponse;
  /** Resolves when the answer has ended or the client has gone. */
  readonly closed: Promise<void>;
  #isClosed = false;

  constructor(request: RecordedRequest, response: ServerResponse) {
    this.request = request;
    this.response = response;
    response.on('error', () => undefined); // A client that went away is no fault of the server.
    this.closed = new Promise((resolve) => {
      response.once('close', () => {
        this.#isClosed = true;
        resolve();
      });
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Starts a stream of server-sent events. Writing does it too. */
  begin(headers: Readonly<Record<string, string>> = {}): void {
    if (this.response.headersSent || this.#isClosed) return;
    this.response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      ...headers,
    });
    this.response.flushHeaders();
  }

  /** Bytes as they are. */
  raw(bytes: string | Uint8Array): void {
    this.begin();
    if (!this.#isClosed) this.response.write(bytes);
  }

  /** One data frame. */
  data(value: unknown): void {
    this.raw(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
  }

  /** A chunk with one choice. */
  delta(delta: Readonly<Record<string, unknown>>, finishReason: string | null = null): void {
    this.data(chunk([{ index: 0, delta, finish_reason: finishReason }], this.request));
  }

  usage(usage: Readonly<Record<string, unknown>>): void {
    this.data({ ...chunk([], this.request), usage });
  }

  /** Keep-alive as many servers send it. */
  comment(text = 'keep-alive'): void {
    this.raw(`: ${text}\n\n`);
  }

  done(): void {
    this.raw('data: [DONE]\n\n');
    this.response.end();
  }

  end(): void {
    this.begin();
    this.response.end();
  }

  /** An answer in one piece. */
  send(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    this.response.writeHead(status, { 'content-type': type, ...headers });
    this.response.end(text);
  }

  /** Breaks the connection at once, as a crash or a proxy does. */
  cut(): void {
    this.response.destroy();
  }

  /** Waits, but no longer than the client does. */
  async sleep(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([new Promise<void>((resolve) => (timer = setTimeout(resolve, ms))), this.closed]);
    clearTimeout(timer);
  }
}

function chunk(choices: readonly unknown[], request: RecordedRequest): Readonly<Record<string, unknown>> {
  return {
    id: 'chatcmpl-loopback',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: request.body?.model ?? 'loopback',
    choices,
  };
}
