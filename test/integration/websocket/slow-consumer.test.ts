import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { quiet } from '../../support/memory-gateway.ts';
import { serveGateway } from '../../support/served-gateway.ts';
import type { ServedGateway } from '../../support/served-gateway.ts';
import { SocketClient } from '../../support/socket-client.ts';

/* E16 and E17: what a client that doesn't read costs, and whom. The kernel itself holds about ten megabytes for it. */

let gateway: ServedGateway;

beforeEach(async () => {
  gateway = await serveGateway({
    core: { window: { contextTokens: 100_000_000 } },
    socket: { maxEventBacklogBytes: 4 * 1024 * 1024, maxBacklogBytes: 8 * 1024 * 1024 },
  });
});
afterEach(() => gateway.server.close());

describe('a client that stops reading', () => {
  test('loses its subscription and not its connection, and then gets every event in order', async () => {
    const { core, url } = gateway;
    const session_id = await core.create();
    const [slow, other] = [await SocketClient.connect(url), await SocketClient.connect(url)];
    for (const client of [slow, other]) await client.call('session.subscribe', { session_id, after_seq: 0 });
    slow.socket.pause();
    for (let turn = 0; turn < 300; turn += 1) {
      await core.turn(session_id, `input ${turn}`, 'x'.repeat(60_000));
      await quiet();
    }
    const last = core.log(session_id).length;
    await other.frame(({ params }) => params?.seq === last);

    slow.socket.resume();
    const gap = await slow.event('subscription.gap');
    await slow.call('session.subscribe', { session_id, after_seq: gap.payload['last_seq'] });
    await slow.frame(({ params }) => params?.seq === last);

    const seqs = slow.events.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
    expect(gap.payload['last_seq']).toBeLessThan(last);
    expect(other.events.some(({ type }) => type === 'subscription.gap')).toBe(false);
    expect(seqs).toEqual(Array.from({ length: last }, (_, index) => index + 1));
  });

  test('gets no live event that would have to wait long, and the durable ones all the same', async () => {
    const { core, url } = gateway;
    const session_id = await core.create();
    const slow = await SocketClient.connect(url);
    await slow.call('session.subscribe', { session_id, after_seq: 0 });
    await slow.event('session.created');
    slow.socket.pause();
    const text = 'x'.repeat(30 * 1024);
    for (let step = 0; step < 2_000; step += 1) {
      core.hub.publishLive({
        type: 'message.delta',
        sessionId: session_id,
        at: core.clock.now(),
        epoch: 1,
        admissionId: 'a',
        executionGeneration: 1,
        step: 0,
        offset: step * text.length,
        text,
      });
    }
    await core.turn(session_id, 'a');

    slow.socket.resume();
    await slow.event('turn.settled');

    const deltas = slow.events.filter(({ type }) => type === 'message.delta');
    expect(deltas.length).toBeGreaterThan(10);
    expect(deltas.length).toBeLessThan(1_000);
    expect(slow.events.some(({ type }) => type === 'subscription.gap')).toBe(false);
  });

  test('of its answers is disconnected with 1013', async () => {
    const { core, url } = gateway;
    const session_id = await core.create();
    await core.turn(session_id, 'a', 'x'.repeat(1_000_000));
    const slow = await SocketClient.connect(url);
    slow.socket.pause();

    for (let call = 0; call < 40; call += 1) void slow.request('session.resume', { session_id }).catch(() => undefined);
    await core.happened(session_id, () => true);
    slow.socket.resume();

    expect(await slow.closed).toBe(1013);
  });
});
