import { afterEach, beforeEach, expect, test } from 'vitest';
import { serveGateway } from '../../support/served-gateway.ts';
import type { ServedGateway } from '../../support/served-gateway.ts';

let gateway: ServedGateway;

beforeEach(async () => {
  gateway = await serveGateway();
});
afterEach(() => gateway.server.close());

const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${gateway.port}${path}`, init);

test('/health says that clients are served, without a token and without a word of sessions', async () => {
  await gateway.core.create({ title: 'Trip' });

  const response = await get('/health');

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ state: 'ready' });
});

test('/health says 503 while the gateway stops', async () => {
  await gateway.core.gateway.drain(0, new AbortController().signal);

  const response = await get('/health');

  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ state: 'draining' });
});

test('/health answers HEAD without a body, and nothing that changes', async () => {
  const head = await get('/health', { method: 'HEAD' });
  const post = await get('/health', { method: 'POST', body: 'x'.repeat(100_000) });

  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(post.status).toBe(405);
});

test('a plain request to /rpc is told to upgrade', async () => {
  const response = await get('/rpc');

  expect(response.status).toBe(426);
  expect(response.headers.get('upgrade')).toBe('websocket');
});

test.each(['/', '/index.html', '/health/x', '/../etc/passwd', '/metrics'])('%s is not there', async (path) => {
  const response = await get(path);

  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { reason: 'not_found' } });
});
