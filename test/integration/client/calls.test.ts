import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../../src/client/gateway-client.ts';
import type { GatewayClient } from '../../../src/client/gateway-client.ts';
import { defaultConnectionLimits } from '../../../src/protocol/limits.ts';
import { aToken, serveGateway } from '../../support/served-gateway.ts';
import type { ServedGateway } from '../../support/served-gateway.ts';

let gateway: ServedGateway;
let client: GatewayClient;

beforeEach(async () => {
  gateway = await serveGateway();
  client = await connect({ url: gateway.url, token: aToken, retryDelayMs: () => 10 });
});

afterEach(async () => {
  client.close();
  await gateway.server.close();
});

describe('a client', () => {
  test('knows to whom it is connected', () => {
    expect(client.state).toBe('connected');
    expect(client.ready).toMatchObject({ epoch: 1, payload: { store_id: 'store-1', state: 'ready' } });
  });

  test('goes from a prompt to its answer', async () => {
    const { snapshot, events } = await client.create({ title: 'Trip' });
    const { session_id } = snapshot;
    await client.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    const texts: string[] = [];

    for await (const event of events) {
      if (event.type === 'message.appended') texts.push(event.payload.message.text);
      if (event.type === 'turn.settled') break;
    }

    expect(texts).toEqual(['Hello', 'Fine.']);
    expect(await client.call('prompt.wait', { session_id, input_id: 'a' })).toMatchObject({ settled: true });
  });

  test('calls back for each event, one after the other', async () => {
    const { snapshot, events } = await client.create({});
    const seqs: number[] = [];
    const followed = events.forEach(async (event) => {
      await Promise.resolve();
      if ('seq' in event) seqs.push(event.seq);
      if (event.type === 'turn.settled') events.close();
    });

    await gateway.core.turn(snapshot.session_id, 'a');
    await followed;

    expect(seqs).toEqual([2, 3, 4, 5, 6]);
  });

  test('throws a refusal with its reason and data', async () => {
    const call = client.call('prompt.submit', { session_id: 'nobody', input_id: 'a', text: 'Hello' });

    await expect(call).rejects.toMatchObject({
      name: 'GatewayError',
      reason: 'not_found',
      code: 1003,
      retryable: false,
      data: { what: 'session' },
    });
  });

  test('keeps to the number of unanswered calls that the gateway allows', async () => {
    await gateway.server.close();
    gateway = await serveGateway({ rpc: { limits: { ...defaultConnectionLimits, max_in_flight: 2 } } });
    client = await connect({ url: gateway.url, token: aToken });

    const answers = await Promise.all(Array.from({ length: 50 }, () => client.call('ping', {})));

    expect(answers).toHaveLength(50);
  });

  test('leaves a session when its reader leaves the loop', async () => {
    const { snapshot, events } = await client.create({});
    await gateway.core.turn(snapshot.session_id, 'a');

    for await (const event of events) if (event.type === 'turn.settled') break;
    await client.call('ping', {});

    expect(gateway.core.hub.hasListeners(snapshot.session_id)).toBe(false);
  });

  test('gives up a call after its time', async () => {
    const { snapshot } = await client.create({});
    await gateway.core.sessions.send(snapshot.session_id, {
      kind: 'hold',
      hold: { reason: 'test', until: null, by: 'local' },
    });
    await gateway.core.submit(snapshot.session_id, 'a');

    const call = client.call('prompt.wait', { session_id: snapshot.session_id, input_id: 'a' }, { timeoutMs: 30 });

    await expect(call).rejects.toMatchObject({ name: 'ConnectionError', kind: 'timed_out' });
  });

  test('that is closed ends its calls and its feeds', async () => {
    const { snapshot, events } = await client.create({});
    await gateway.core.sessions.send(snapshot.session_id, {
      kind: 'hold',
      hold: { reason: 'test', until: null, by: 'local' },
    });
    await gateway.core.submit(snapshot.session_id, 'a');
    const wait = client.call('prompt.wait', { session_id: snapshot.session_id, input_id: 'a' });
    const followed = events.forEach(() => undefined);

    client.close();

    await expect(wait).rejects.toMatchObject({ kind: 'closed' });
    await followed;
    await expect(client.call('ping', {})).rejects.toMatchObject({ kind: 'closed' });
    expect(client.state).toBe('closed');
  });
});

describe('connecting', () => {
  test('with a wrong token fails for good, and says why', async () => {
    await expect(connect({ url: gateway.url, token: 'wrong' })).rejects.toMatchObject({
      name: 'ConnectionError',
      kind: 'refused',
      status: 401,
      message: 'The token is missing or wrong.',
    });
  });

  test('to nobody fails', async () => {
    await gateway.server.close();

    await expect(connect({ url: gateway.url, token: aToken })).rejects.toMatchObject({ kind: 'unreachable' });
  });

  test('to a gateway that is starting fails for now', async () => {
    const starting = await serveGateway({ socket: { isOpen: () => false } });

    await expect(connect({ url: starting.url, token: aToken })).rejects.toMatchObject({ kind: 'busy', status: 503 });
    await starting.server.close();
  });

  test('again with a token that is no longer good ends the client and everything that waits for it', async () => {
    const { snapshot, events } = await client.create({});
    const followed = events.forEach(() => undefined);
    const { port } = gateway;
    const held = { kind: 'hold', hold: { reason: 'test', until: null, by: 'local' } } as const;
    await gateway.core.sessions.send(snapshot.session_id, held);
    await gateway.core.submit(snapshot.session_id, 'a');
    const wait = client.call('prompt.wait', { session_id: snapshot.session_id, input_id: 'a' });
    wait.catch(() => undefined);

    await gateway.server.close();
    gateway = await serveGateway({ socket: { port, authenticate: () => null } });

    await expect(followed).rejects.toMatchObject({ kind: 'refused', status: 401 });
    await expect(wait).rejects.toMatchObject({ kind: 'refused' });
    expect(client.state).toBe('closed');
  });
});
