import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Why somebody gets no socket, as a plain HTTP answer. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 426 | 429 | 503;
  readonly reason:
    'invalid_request' | 'unauthorized' | 'forbidden' | 'not_found' | 'rate_limited' | 'starting' | 'overloaded';
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers an upgrade request over its raw socket and ends it. */
export function refuseUpgrade(socket: Duplex, { status, reason, message, headers = {} }: Refusal): void {
  const body = JSON.stringify({ error: { reason, message } });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
