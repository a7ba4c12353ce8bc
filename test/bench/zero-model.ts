import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A model that answers at once, and keeps the time between a request's last byte and its answer's last byte. */
export class ZeroModel {
  readonly url: string;
  /** Milliseconds inside the model since the last reset. */
  insideMs = 0;
  #chunks = 1;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v1`; // it listens on TCP
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      request.resume().on('end', () => {
        this.#answer(response);
      });
    });
  }

  static async start(): Promise<ZeroModel> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ZeroModel(server);
  }

  set chunksPerAnswer(chunks: number) {
    this.#chunks = chunks;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(response: ServerResponse): void {
    const startedAt = performance.now();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let left = this.#chunks;
    const write = (): void => {
      while (left > 0) {
        left -= 1;
        if (!response.write(delta)) {
          response.once('drain', write);
          return;
        }
      }
      response.end(ending);
      this.insideMs += performance.now() - startedAt;
    };
    write();
  }
}

const delta = sse({ choices: [{ index: 0, delta: { role: 'assistant', content: 'a word ' }, finish_reason: null }] });
const ending = `${sse({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${sse({
  choices: [],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
})}data: [DONE]\n\n`;

function sse(body: Record<string, unknown>): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'zero', ...body })}\n\n`;
}
