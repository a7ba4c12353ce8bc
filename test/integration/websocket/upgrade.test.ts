import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveGateway } from '../../support/served-gateway.ts';
import type { ServedGateway, ServedOptions } from '../../support/served-gateway.ts';
import { aToken } from '../../support/served-gateway.ts';
import { tryUpgrade } from '../../support/socket-client.ts';

/* Who gets a socket: E8, E10, E11, E26 of cases/protocol.md, F93 and F94. */

let gateway: ServedGateway;

async function serve(socket: ServedOptions['socket'] = {}): Promise<void> {
  await gateway?.server.close();
  gateway = await serveGateway({ socket });
}

beforeEach(() => serve());
afterEach(() => gateway.server.close());

const bearer = { authorization: `Bearer ${aToken}` };

describe('a program that is no browser', () => {
  test('gets in with its token and without an origin', async () => {
    expect(await tryUpgrade(gateway.port, bearer)).toMatchObject({ status: 101 });
  });

  test('gets the subprotocol that it asks for', async () => {
    const answer = await tryUpgrade(gateway.port, { ...bearer, 'sec-websocket-protocol': 'holdfast.v1' });

    expect(answer).toMatchObject({ status: 101, headers: { 'sec-websocket-protocol': 'holdfast.v1' } });
  });

  test.each([
    ['no token', {}],
    ['a wrong token', { authorization: 'Bearer nonsense' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['the beginning of the right token', { authorization: `Bearer ${aToken.slice(0, -1)}` }],
    ['the right token in another scheme', { authorization: `Basic ${aToken}` }],
    ['a wrong token as a subprotocol', { 'sec-websocket-protocol': 'holdfast.v1, holdfast.token.nonsense' }],
  ])('is refused with %s', async (_, headers) => {
    const answer = await tryUpgrade(gateway.port, headers);

    expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    expect(JSON.parse(answer.body)).toMatchObject({ error: { reason: 'unauthorized' } });
  });
});

describe('a page in a browser', () => {
  test('gets in from an allowed origin with the token as a subprotocol, which is not echoed', async () => {
    await serve({ allowedOrigins: ['https://app.example'] });

    const answer = await tryUpgrade(gateway.port, {
      origin: 'https://app.example',
      'sec-websocket-protocol': `holdfast.v1, holdfast.token.${aToken}`,
    });

    expect(answer).toMatchObject({ status: 101, headers: { 'sec-websocket-protocol': 'holdfast.v1' } });
  });

  test.each([
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['the origin null', { origin: 'null' }],
    ['an origin that begins like an allowed one', { origin: 'https://app.example.evil.example' }],
    ['an allowed host by another scheme', { origin: 'http://app.example' }],
    ['the gateway’s own address, which nobody has listed', { origin: 'http://127.0.0.1' }],
    ['no origin but a browser’s other headers', { 'sec-fetch-site': 'cross-site' }],
  ])('is refused from %s, right token or not', async (_, headers) => {
    await serve({ allowedOrigins: ['https://app.example'] });

    for (const token of [bearer, {}]) {
      const answer = await tryUpgrade(gateway.port, { ...(headers as Record<string, string>), ...token });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body)).toMatchObject({ error: { reason: 'forbidden' } });
    }
  });

  test('of a sandbox gets in when the origin null is listed', async () => {
    await serve({ allowedOrigins: ['null'] });

    expect(await tryUpgrade(gateway.port, { origin: 'null', ...bearer })).toMatchObject({ status: 101 });
  });

  test('that does not ask for the protocol is told what to ask for', async () => {
    const answer = await tryUpgrade(gateway.port, { ...bearer, 'sec-websocket-protocol': 'graphql-ws' });

    expect(answer.status).toBe(400);
    expect(answer.body).toContain('holdfast.v1');
  });
});

describe('the Host header', () => {
  const hosts = (port: number): string[] => [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `[::1]:${port}`,
  ];

  test('may be any name of this machine for itself', async () => {
    for (const host of hosts(gateway.port)) {
      expect([host, (await tryUpgrade(gateway.port, { ...bearer, host })).status]).toEqual([host, 101]);
    }
  });

  test.each(['rebind.example:7000', 'localhost', '127.0.0.1:1', 'evil.example', 'localhost.evil.example'])(
    'must not be %j: a name that a foreign page has made to point here',
    async (host) => {
      expect([400, 403]).toContain((await tryUpgrade(gateway.port, { ...bearer, host })).status);
    },
  );

  test('may be a configured name, with any port when none is configured', async () => {
    await serve({ hosts: ['gateway.example', 'other.example:8443'] });
    const statusOf = async (host: string): Promise<number> =>
      (await tryUpgrade(gateway.port, { ...bearer, host })).status;

    expect(await statusOf('gateway.example')).toBe(101);
    expect(await statusOf('gateway.example:9')).toBe(101);
    expect(await statusOf('other.example:8443')).toBe(101);
    expect(await statusOf('other.example')).toBe(403);
  });
});

describe('a token in the address', () => {
  test('is refused with an explanation, and nothing ever repeats it', async () => {
    const answer = await tryUpgrade(gateway.port, {}, '/rpc?token=SECRET-IN-URL');

    expect(answer.status).toBe(400);
    expect(answer.body).toContain('Authorization: Bearer');
    expect(answer.body + JSON.stringify(gateway.core.logger.lines)).not.toContain('SECRET-IN-URL');
  });

  test('is refused beside the right one too', async () => {
    expect(await tryUpgrade(gateway.port, bearer, `/rpc?access_token=${aToken}`)).toMatchObject({ status: 400 });
  });

  test('is not logged when it comes in a header either', async () => {
    await tryUpgrade(gateway.port, { authorization: 'Bearer SECRET-IN-HEADER' });

    expect(gateway.core.logger.lines).toContainEqual(
      expect.objectContaining({
        message: 'a client was refused',
        fields: { status: 401, reason: 'unauthorized', remoteAddress: '127.0.0.1' },
      }),
    );
    expect(JSON.stringify(gateway.core.logger.lines)).not.toContain('SECRET');
  });
});

describe('wrong tokens', () => {
  beforeEach(() => serve({ maxFailuresPerMinute: 3 }));

  test('are answered 429 after a few, on the loopback address too, and only those', async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 5; attempt += 1) statuses.push((await tryUpgrade(gateway.port)).status);
    const limited = await tryUpgrade(gateway.port);

    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect(JSON.parse(limited.body)).toMatchObject({ error: { reason: 'rate_limited' } });
    // Every program on this machine has the same address: one that guesses must not lock out the one that knows.
    expect((await tryUpgrade(gateway.port, bearer)).status).toBe(101);
  });
});

describe('somebody who asks for something else', () => {
  test('at another path gets 404', async () => {
    expect(await tryUpgrade(gateway.port, bearer, '/ws')).toMatchObject({ status: 404 });
  });

  test('for another upgrade gets 426', async () => {
    expect(await tryUpgrade(gateway.port, { ...bearer, upgrade: 'h2c' })).toMatchObject({ status: 426 });
  });

  test('while there is no room gets 503', async () => {
    await serve({ maxConnections: 0 });

    expect(await tryUpgrade(gateway.port, bearer)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  });

  test('while the gateway recovers gets 503', async () => {
    await serve({ isOpen: () => false });

    expect(await tryUpgrade(gateway.port, bearer)).toMatchObject({ status: 503 });
  });
});
