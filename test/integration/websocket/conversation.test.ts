import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../src/adapters/outbound/memory/fake-clock.ts';
import { ScriptedModel, textAnswer } from '../../../src/adapters/outbound/memory/scripted-model.ts';
import { defaultConnectionLimits } from '../../../src/protocol/limits.ts';
import { serveGateway } from '../../support/served-gateway.ts';
import type { ServedGateway } from '../../support/served-gateway.ts';
import { bareSocket, SocketClient } from '../../support/socket-client.ts';

let gateway: ServedGateway;
let model: ScriptedModel;

beforeEach(async () => {
  model = new ScriptedModel(() => textAnswer('Fine.'));
  gateway = await serveGateway({ core: { model } });
});
afterEach(() => gateway.server.close());

describe('a conversation over a socket', () => {
  test('is greeted first, and goes from the prompt to the answer', async () => {
    const client = await SocketClient.connect(gateway.url);
    const { session_id } = await client.call('session.create', { request_id: 'r' });
    await client.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    const end = await client.call('prompt.wait', { session_id, input_id: 'a' });

    expect(client.frames[0]).toMatchObject({ method: 'event', params: { type: 'gateway.ready' } });
    expect(end).toMatchObject({ outcome: 'completed', settled: true });
    expect(client.events.map(({ type }) => type)).toEqual([
      'gateway.ready',
      'admission.queued',
      'turn.started',
      'message.appended',
      'message.delta',
      'message.appended',
      'turn.settled',
    ]);
  });

  test('keeps the order of hundreds of prompts that come at once, though the ids are resolved one by one', async () => {
    await gateway.server.close();
    gateway = await serveGateway({
      core: { model, limits: { maxQueuedPerSession: 2_000, maxLostStarts: 3 } },
      rpc: { limits: { ...defaultConnectionLimits, max_in_flight: 2_000 } },
    });
    const client = await SocketClient.connect(gateway.url);
    const { session_id } = await client.call('session.create', { request_id: 'r' });
    await client.call('session.hold', { session_id });

    const receipts = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        client.call('prompt.submit', { session_id, input_id: `input ${index}`, text: 'Hello' }),
      ),
    );

    expect(receipts.map(({ sequence }) => sequence)).toEqual(receipts.map((_, index) => index + 1));
  });

  // F81: two sockets submit the same prompt at the same time.
  test('gives one admission to the same prompt from two sockets at once', async () => {
    const clients = await Promise.all([1, 2].map(() => SocketClient.connect(gateway.url)));
    const session_id = await gateway.core.create();

    const receipts = await Promise.all(
      clients.flatMap((client) =>
        [1, 2, 3].map(() => client.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' })),
      ),
    );

    expect(new Set(receipts.map(({ admission_id }) => admission_id)).size).toBe(1);
    expect(receipts.filter(({ duplicate }) => duplicate === false)).toHaveLength(1);
  });

  // E7: the only client went away in mid-turn, and its reply was never shown.
  test('goes on without its client, who finds the answer and every event when it comes back', async () => {
    const session_id = await gateway.core.create();
    model.enqueue([{ kind: 'gate', name: 'go' }, ...textAnswer('At last.')]);
    const client = await SocketClient.connect(gateway.url);
    await client.call('session.resume', { session_id });
    await client.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    await model.reached('go');
    const seen = Math.max(...client.events.map(({ seq }) => seq ?? 0));
    client.socket.terminate();
    await client.closed;
    model.release('go');
    await gateway.core.ended(session_id, 'a');

    const back = await SocketClient.connect(gateway.url);
    await back.call('session.subscribe', { session_id, after_seq: seen });
    await back.event('turn.settled');
    const { messages } = await back.call('session.resume', { session_id });

    const missed = back.events.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
    expect(missed).toEqual(Array.from({ length: missed.length }, (_, index) => seen + 1 + index));
    expect(messages).toMatchObject([{ text: 'Hello' }, { text: 'At last.' }]);
  });

  // E2: a number that counted for one connection only looked like a gap on the next one.
  test('numbers its events for the session and not for the connection', async () => {
    const session_id = await gateway.core.create();
    const [first, second] = [await SocketClient.connect(gateway.url), await SocketClient.connect(gateway.url)];
    await first.call('session.subscribe', { session_id, after_seq: 0 });
    await gateway.core.turn(session_id, 'a');
    await first.event('turn.settled');
    await second.call('session.subscribe', { session_id, after_seq: 0 });
    await second.event('turn.settled');

    const durable = ({ events }: SocketClient): unknown[] => events.filter(({ seq }) => seq !== undefined);
    expect(durable(second)).toEqual(durable(first));
  });
});

describe('a connection that goes silent without a word', () => {
  test('is given up after two intervals, and nobody listens for it any more', async () => {
    await gateway.server.close();
    const clock = new FakeClock();
    gateway = await serveGateway({ core: { model }, socket: { clock } });
    const alive = await SocketClient.connect(gateway.url);
    const dead = await bareSocket(gateway.port);
    const ended = once(dead.resume(), 'close');
    const connected = gateway.server.connections;

    await clock.advance(20_000);
    await alive.call('ping');
    await clock.advance(20_000);
    await ended;

    await alive.call('ping');
    expect([connected, gateway.server.connections]).toEqual([2, 1]);
  });
});

describe('a gateway that stops', () => {
  test('answers known prompts until its end, and then says 1012', async () => {
    const client = await SocketClient.connect(gateway.url);
    const session_id = await gateway.core.create();
    await gateway.core.turn(session_id, 'a', 'Hello');
    await gateway.core.gateway.drain(0, new AbortController().signal);

    const known = await client.request('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    const fresh = await client.request('prompt.submit', { session_id, input_id: 'b', text: 'Hello' });
    const late = await SocketClient.connect(gateway.url);
    await gateway.server.close();

    expect(known.result).toMatchObject({ duplicate: true, outcome: 'completed' });
    expect(fresh.error?.data.reason).toBe('draining');
    expect(late.events[0]?.payload).toMatchObject({ state: 'draining' });
    expect(await Promise.all([client.closed, late.closed])).toEqual([1012, 1012]);
  });

  test('still sends what it has answered', async () => {
    const client = await SocketClient.connect(gateway.url);
    const answers = Array.from({ length: 50 }, () => client.call('ping'));
    await answers[0];

    await gateway.server.close();

    expect(await client.closed).toBe(1012);
  });

  test('does not wait for a client that never says goodbye', async () => {
    const dead = await bareSocket(gateway.port);

    await gateway.server.close();

    expect(gateway.server.connections).toBe(0);
    dead.destroy();
  });
});
