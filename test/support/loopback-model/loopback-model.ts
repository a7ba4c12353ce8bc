import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { textAnswer } from './answers.ts';
import { LoopbackCall } from './loopback-call.ts';

/** Everything that a client sent in one request, as it came. */
export interface RecordedRequest {
  /** `performance.now()` when the request was complete. */
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; null when it is no JSON object. */
  readonly body: ChatRequest | null;
  readonly rawBody: string;
}

/** A chat completions request, as far as tests look at it. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly max_tokens?: number;
  readonly [field: string]: unknown;
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly ChatToolCall[];
  readonly tool_call_id?: string;
  readonly [field: string]: unknown;
}

interface ChatToolCall {
  readonly id: string;
  readonly type?: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What the server does with one request. See answers.ts for the ready-made ones. */
export type Answer = (call: LoopbackCall) => void | Promise<void>;

export interface LoopbackOptions {
  readonly port?: number;
  /** Answers every request for which the queue holds nothing. */
  readonly answer?: Answer;
}

/**
 * A model server on 127.0.0.1 that speaks OpenAI's chat completions, real sockets included. Each request takes the next
 * answer of the queue, else the standing one.
 */
export class LoopbackModel {
  readonly requests: RecordedRequest[] = [];
  readonly #server;
  readonly #queue: Answer[] = [];
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  readonly #calls = new Set<LoopbackCall>();
  #answer: Answer;
  #connections = 0;

  private constructor(answer: Answer) {
    this.#answer = answer;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on('connection', () => (this.#connections += 1));
  }

  static async start(options: LoopbackOptions = {}): Promise<LoopbackModel> {
    const model = new LoopbackModel(options.answer ?? textAnswer('ok'));
    await new Promise<void>((resolve) => model.#server.listen(options.port ?? 0, '127.0.0.1', resolve));
    return model;
  }

  /** What a client takes as its base URL. */
  get url(): string {
    return `${this.origin}/v1`;
  }

  get origin(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`; // It listens on TCP.
  }

  /** How many connections were opened since the start. */
  get connectionCount(): number {
    return this.#connections;
  }

  /** Requests whose answers haven't ended yet. */
  get openCallCount(): number {
    return this.#calls.size;
  }

  /** The recorded bodies of chat requests. */
  get chats(): readonly ChatRequest[] {
    return this.requests.flatMap(({ body }) => (body === null ? [] : [body]));
  }

  enqueue(...answers: readonly Answer[]): void {
    this.#queue.push(...answers);
  }

  answerWith(answer: Answer): void {
    this.#answer = answer;
  }

  /** Resolves when this many requests have come in all. */
  async waitForRequests(count: number): Promise<void> {
    if (this.requests.length >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const call of this.#calls) call.cut();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const rawBody = await read(incoming);
    if (rawBody === null) return;
    const path = incoming.url ?? '';
    const request: RecordedRequest = {
      atMs: performance.now(),
      method: incoming.method ?? '',
      path,
      headers: incoming.headers,
      body: chatRequest(rawBody),
      rawBody,
    };
    if (path.endsWith('/models'))
      return void response.end(JSON.stringify({ object: 'list', data: [{ id: 'loopback' }] }));
    this.requests.push(request);
    const call = new LoopbackCall(request, response);
    this.#calls.add(call);
    void call.closed.then(() => this.#calls.delete(call));
    for (const waiting of this.#waiting) if (this.requests.length >= waiting.count) waiting.resolve();
    await (this.#queue.shift() ?? this.#answer)(call);
  }
}

async function read(incoming: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of incoming) pieces.push(piece as Buffer); // No encoding is set.
  } catch {
    return null; // The client went away while it sent.
  }
  return Buffer.concat(pieces).toString('utf8');
}

function chatRequest(text: string): ChatRequest | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'messages' in value ? (value as ChatRequest) : null; // Tests look at it field by field.
  } catch {
    return null;
  }
}
