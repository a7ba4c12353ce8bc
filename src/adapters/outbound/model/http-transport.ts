import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';

interface HttpPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the request and closes its socket at any time, also while the body is read. */
  readonly signal: AbortSignal;
  readonly connectTimeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: IncomingMessage;
}

/**
 * Posts over HTTP/1.1 and gives the answer's body as it comes. Built on `node:http` and not on `fetch`, because the
 * built-in fetch gives up after 300 seconds without bytes, which a local model needs for one long prompt, and because a
 * redirect must never be followed with a key in hand.
 */
export interface HttpTransport {
  post(post: HttpPost): Promise<HttpAnswer>;
  /** Closes the connections that wait for a next request. */
  close(): void;
}

/** The server did not accept a connection in time. */
export class ConnectTimeout extends Error {
  override readonly name = 'ConnectTimeout';
}

/** Many servers close a connection that was idle for five seconds, and a request that meets that moment is lost. */
const maxIdleMs = 4_000;

export function makeHttpTransport(): HttpTransport {
  const reuse = { keepAlive: true, timeout: maxIdleMs };
  const http = new HttpAgent(reuse);
  const https = new HttpsAgent(reuse);
  return {
    post: (post) =>
      new Promise((resolve, reject) => {
        const isHttps = post.url.protocol === 'https:';
        const options = {
          method: 'POST',
          headers: withLength(post),
          signal: post.signal,
          agent: isHttps ? https : http,
        };
        const request = isHttps ? requestHttps(post.url, options) : requestHttp(post.url, options);
        request.once('response', (body) => {
          body.on('error', ignore);
          resolve({ status: body.statusCode ?? 0, headers: flatHeaders(body), body });
        });
        // It stays on: after the answer has begun, a broken socket is an error of the body, which its reader sees.
        request.on('error', reject);
        limitConnecting(request, post.connectTimeoutMs);
        request.end(post.body);
      }),
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

function withLength({ headers, body }: HttpPost): Record<string, string> {
  return { ...headers, 'accept-encoding': 'identity', 'content-length': String(Buffer.byteLength(body)) };
}

function limitConnecting(request: ClientRequest, timeoutMs: number): void {
  request.once('socket', (socket) => {
    // Between an answer's end and the agent's taking its socket back, an abort finds a socket that nobody listens to.
    if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
    if (!socket.connecting) return;
    const timer = setTimeout(() => request.destroy(new ConnectTimeout()), timeoutMs);
    const stop = (): void => clearTimeout(timer);
    socket.once('connect', stop);
    socket.once('close', stop);
  });
}

/** Who uses a connection hears of its errors; one that nobody uses any more must not end the process. */
function ignore(): void {
  // Nothing to do.
}

function flatHeaders(answer: IncomingMessage): Record<string, string> {
  const entries = Object.entries(answer.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return Object.fromEntries(entries);
}
