import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { GatewayPhase } from '../../../core/use-cases/gateway-status.ts';
import { rpcPath } from '../../../protocol/limits.ts';

/**
 * Answers plain HTTP: `GET /health` says whether clients are served, and nothing else. It needs no token, for it says
 * nothing of sessions. Whatever else is asked for gets a plain JSON error.
 */
export function makeHttpHandler(deps: { readonly phase: () => GatewayPhase }): RequestListener {
  return (request, response) => {
    request.resume();
    const [path] = (request.url ?? '').split('?', 1);
    if (path === '/health' && isRead(request)) {
      const state = deps.phase();
      answer(request, response, state === 'ready' ? 200 : 503, { state });
    } else if (path === '/health') {
      response.setHeader('allow', 'GET, HEAD');
      answer(request, response, 405, { error: { reason: 'invalid_request', message: 'Only GET is allowed.' } });
    } else if (path === rpcPath) {
      response.setHeader('upgrade', 'websocket');
      answer(request, response, 426, { error: { reason: 'invalid_request', message: 'Connect with WebSocket.' } });
    } else {
      answer(request, response, 404, { error: { reason: 'not_found', message: 'There is nothing here.' } });
    }
  };
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function answer(request: IncomingMessage, response: ServerResponse, status: number, content: unknown): void {
  const body = JSON.stringify(content);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
