import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly requestId?: number };
}

export interface HeardRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
}

/** How a tool answers: with everything that HTTP can do. */
export type HttpTool = (response: ServerResponse, id: number) => void;

/** The least that is an MCP server over streamable HTTP, in this process. It has one tool for each way to answer. */
export class TinyHttpServer {
  readonly heard: HeardRequest[] = [];
  /** The session that it knows. Another id gets 404, as the protocol says. */
  session = 'session-1';
  readonly #server: Server;
  readonly #tools: Readonly<Record<string, HttpTool>>;
  #watchers: (() => void)[] = [];

  static async open(tools: Readonly<Record<string, HttpTool>>): Promise<TinyHttpServer> {
    const tiny = new TinyHttpServer(tools);
    await new Promise<void>((resolve) => tiny.#server.listen(0, '127.0.0.1', resolve));
    return tiny;
  }

  private constructor(tools: Readonly<Record<string, HttpTool>>) {
    this.#tools = tools;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  get url(): string {
    // It listens on TCP, so its address is an object.
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/mcp`;
  }

  /** Resolves when a message of this method (`GET` for the stream, `closed tool` for a broken-off answer) has come. */
  async hears(method: string): Promise<void> {
    while (!this.heard.some((heard) => heard.method === method)) {
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') {
      this.#note(String(request.method), request);
      response.writeHead(405).end();
      return;
    }
    const message = await readMessage(request);
    this.#note(message.method, request);
    const { id } = message;
    if (message.method !== 'initialize' && request.headers['mcp-session-id'] !== this.session) {
      response.writeHead(404).end('no such session');
    } else if (id === undefined) response.writeHead(202).end();
    else if (message.method === 'initialize') {
      response.setHeader('mcp-session-id', this.session);
      const serverInfo = { name: 'tiny', version: '1' };
      answerJson(response, id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo });
    } else if (message.method === 'tools/list') {
      const tools = Object.keys(this.#tools).map((name) => ({ name, inputSchema: { type: 'object' } }));
      answerJson(response, id, { tools });
    } else {
      response.on('close', () => this.#note(response.writableFinished ? 'answered' : 'closed tool', request));
      this.#tools[message.params?.name ?? '']?.(response, id);
    }
  }

  #note(method: string, { headers }: IncomingMessage): void {
    this.heard.push({ method, headers });
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const wake of watchers) wake();
  }
}

export function answerJson(response: ServerResponse, id: number, result: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': a comment\n\n');
}

export function sendEvent(response: ServerResponse, id: number, result: unknown): void {
  response.write(`event: message\r\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\r\n\r\n`);
}

async function readMessage(request: IncomingMessage): Promise<Message> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as Message; // only the SDK's client writes here
}
