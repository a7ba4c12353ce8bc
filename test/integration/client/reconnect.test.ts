import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MemoryStore } from '../../../src/adapters/outbound/memory/memory-store.ts';
import { connect } from '../../../src/client/gateway-client.ts';
import type { ClientState, GatewayClient } from '../../../src/client/gateway-client.ts';
import type { EventFeed, SessionEvent } from '../../../src/client/event-feed.ts';
import { defaultConnectionLimits } from '../../../src/protocol/limits.ts';
import { aToken, serveGateway } from '../../support/served-gateway.ts';
import { aModel, smallWindow, textOf } from '../../unit/core/use-cases/pressure.ts';
import type { ServedGateway } from '../../support/served-gateway.ts';
import { MeddlingProxy } from './meddling-proxy.ts';

/* What becomes of a client when the network is bad: E1, E2, E4, E5, E14 of cases/protocol.md. */

let store: MemoryStore;
let gateway: ServedGateway;
let proxy: MeddlingProxy;
let client: GatewayClient;
let states: ClientState[];

beforeEach(async () => {
  store = new MemoryStore('store-1');
  gateway = await serveGateway({ core: { store } });
  proxy = await MeddlingProxy.before(gateway.url);
  states = [];
  client = await connectTo(proxy);
});

afterEach(async () => {
  client.close();
  await proxy.close();
  await gateway.server.close();
});

function connectTo({ url }: { url: string }): Promise<GatewayClient> {
  const onState = (state: ClientState): unknown => states.push(state);
  return connect({ url, token: aToken, onState, retryDelayMs: () => 10, requestTimeoutMs: 20_000 });
}

/** Reads a feed until an event fits; the numbers of the durable ones on the way. */
async function seqsUntil(feed: EventFeed, isLast: (event: SessionEvent) => boolean): Promise<number[]> {
  const seqs: number[] = [];
  const iterator = feed[Symbol.asyncIterator]();
  for (;;) {
    const next = await iterator.next();
    if (next.done) throw new Error('the feed has ended');
    if ('seq' in next.value) seqs.push(next.value.seq);
    if (isLast(next.value)) return seqs;
  }
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** `count` held prompts: one durable event each. */
async function submitHeld(session_id: string, count: number, from = 0): Promise<void> {
  for (let index = from; index < from + count; index += 1) await gateway.core.submit(session_id, `input ${index}`);
}

async function heldSession(): Promise<string> {
  const session_id = await gateway.core.create();
  await gateway.core.sessions.send(session_id, { kind: 'hold', hold: { reason: 'test', until: null, by: 'local' } });
  return session_id;
}

function tellGap(session_id: string): void {
  const params = { type: 'subscription.gap', session_id, at: '', epoch: 1, payload: { last_seq: 2 } };
  proxy.inject({ jsonrpc: '2.0', method: 'event', params });
}

describe('after a lost connection', () => {
  // E5: what was published during a short disconnect was lost until somebody refreshed.
  test('a feed goes on with exactly what it missed, in order, the end included', async () => {
    const session_id = await gateway.core.create();
    const { events } = await client.resume({ session_id });
    await gateway.core.turn(session_id, 'a');
    const first = await seqsUntil(events, ({ type }) => type === 'turn.settled');

    proxy.cut();
    for (const input of ['b', 'c', 'd', 'e', 'f', 'g']) await gateway.core.turn(session_id, input);
    const last = gateway.core.log(session_id).length;
    const second = await seqsUntil(events, (event) => 'seq' in event && event.seq === last);

    expect([1, ...first, ...second]).toEqual(upTo(last));
    expect(states).toEqual(['connected', 'reconnecting', 'connected']);
  });

  // E1: the client subscribed again from where it had once begun, and got the whole session each time.
  test('a feed asks for what comes after its last event, not after where it began', async () => {
    const session_id = await gateway.core.create();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 0 });
    await gateway.core.turn(session_id, 'a');
    const seen = await seqsUntil(feed, ({ type }) => type === 'turn.settled');

    proxy.cut();
    await proxy.clientSent(({ method, params }) => method === 'session.subscribe' && params?.['after_seq'] !== 0);

    expect(proxy.sentMethod('session.subscribe').map(({ params }) => params?.['after_seq'])).toEqual([0, seen.length]);
  });

  // E2: after each restart of the gateway the client saw a gap that was none.
  test('a feed survives a restart of the gateway without a false gap', async () => {
    const session_id = await gateway.core.create();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 0 });
    await gateway.core.turn(session_id, 'a');
    const before = await seqsUntil(feed, ({ type }) => type === 'turn.settled');

    await gateway.server.close();
    gateway = await serveGateway({ core: { store } });
    proxy.leadTo(gateway.url);
    await gateway.core.turn(session_id, 'b');
    const last = gateway.core.log(session_id).length;
    const after = await seqsUntil(feed, (event) => 'seq' in event && event.seq === last);

    expect([...before, ...after]).toEqual(upTo(last));
    expect(proxy.sentMethod('session.events')).toEqual([]);
  });

  test('a submit without an answer is sent again with the same id, and is one prompt (A20)', async () => {
    const session_id = await heldSession();
    // The prompt gets through, and the connection breaks before its receipt does.
    proxy.fromGateway = (frame) => {
      if (frame.result?.['input_id'] !== 'a') return frame;
      proxy.fromGateway = (other) => other;
      proxy.cut();
      return null;
    };

    const receipt = await client.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    expect(receipt).toMatchObject({ input_id: 'a', sequence: 1, duplicate: true });
    expect(proxy.sentMethod('prompt.submit').map(({ params }) => params?.['input_id'])).toEqual(['a', 'a']);
  });

  test('submits without an answer are sent again in their order', async () => {
    const session_id = await heldSession();
    proxy.fromClient = ({ method }) => method !== 'prompt.submit';
    const receipts = ['a', 'b', 'c'].map((input_id) =>
      client.call('prompt.submit', { session_id, input_id, text: 'Hello' }),
    );
    await proxy.clientSent(({ params }) => params?.['input_id'] === 'c');

    proxy.fromClient = () => true;
    proxy.cut();

    expect((await Promise.all(receipts)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });

  test('a create without an answer is sent again and makes one session', async () => {
    proxy.fromGateway = (frame) => {
      if (frame.result?.['created'] !== true) return frame;
      proxy.fromGateway = (other) => other;
      proxy.cut();
      return null;
    };

    const { snapshot, events } = await client.create({ title: 'Trip' });
    await gateway.core.turn(snapshot.session_id, 'a');

    expect(snapshot.created).toBe(false);
    expect(await seqsUntil(events, ({ type }) => type === 'turn.settled')).toEqual([2, 3, 4, 5, 6]);
  });

  test('a fork without an answer is sent again and is one fork', async () => {
    const session_id = await gateway.core.create();
    await gateway.core.turn(session_id, 'a');
    proxy.fromGateway = (frame) => {
      if (frame.result?.['created'] !== true) return frame;
      proxy.fromGateway = (other) => other;
      proxy.cut();
      return null;
    };

    const fork = await client.call('session.fork', { session_id, message_id: 2 });

    expect(fork.created).toBe(false);
    expect((await client.call('session.list', {})).sessions).toHaveLength(2);
  });

  test('a compression without an answer is sent again and is one compression; a preview needs no id', async () => {
    await gateway.server.close();
    gateway = await serveGateway({ core: { store, model: aModel(), window: smallWindow } });
    proxy.leadTo(gateway.url);
    const session_id = await gateway.core.create();
    for (const input of ['a', 'b', 'c']) await gateway.core.turn(session_id, input, textOf(100, input));
    proxy.fromGateway = (frame) => {
      if (frame.result?.['preview'] !== false) return frame;
      proxy.fromGateway = (other) => other;
      proxy.cut();
      return null;
    };

    const compressed = await client.call('session.compress', { session_id, keep_last: 2 });
    await client.call('session.compress', { session_id, preview: true });

    expect(compressed).toMatchObject({ preview: false, duplicate: true });
    expect((await client.call('session.lineage', { session_id })).compressions).toHaveLength(1);
    expect(proxy.sentMethod('session.compress').at(-1)?.params).toEqual({ session_id, preview: true });
  });

  test('a call that is made meanwhile is sent when the connection is there again', async () => {
    proxy.cut();

    expect(await client.call('ping', {})).toMatchObject({ at: expect.any(String) as string });
  });

  test('the gateway is looked for anew, for it may have moved', async () => {
    const moved = await MeddlingProxy.before(gateway.url);
    const roaming = await connect({
      url: proxy.url,
      token: aToken,
      retryDelayMs: () => 10,
      locate: () => Promise.resolve({ url: moved.url, token: aToken }),
    });

    proxy.cut();
    await roaming.call('ping', {});

    expect(moved.connections).toBe(1);
    roaming.close();
    await moved.close();
  });
});

describe('a feed', () => {
  // E4: event 42 was lost on the way; what does the client show at 43?
  test('never hands out 43 before 42, and asks for what is missing', async () => {
    const session_id = await heldSession();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 0 });
    proxy.fromGateway = (frame) => (frame.params?.seq === 12 ? null : frame);

    await submitHeld(session_id, 20);
    const seqs = await seqsUntil(feed, (event) => 'seq' in event && event.seq === 22);

    expect(seqs).toEqual(upTo(22));
    expect(proxy.sentMethod('session.events')[0]?.params).toMatchObject({ after_seq: 11 });
  });

  test('finds out that the last event was lost as soon as something else happens', async () => {
    const session_id = await heldSession();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 2 });
    proxy.fromGateway = (frame) => (frame.params?.seq === 4 ? null : frame);
    await submitHeld(session_id, 2);
    await submitHeld(session_id, 1, 2);

    expect(await seqsUntil(feed, (event) => 'seq' in event && event.seq === 5)).toEqual([3, 4, 5]);
  });

  test('drops what it has already', async () => {
    const session_id = await heldSession();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 0 });
    await submitHeld(session_id, 3);
    const [first, ...others] = await seqsUntil(feed, (event) => 'seq' in event && event.seq === 5);
    proxy.inject({
      jsonrpc: '2.0',
      method: 'event',
      params: { type: 'turn.started', session_id, seq: 3, payload: {} },
    });
    await submitHeld(session_id, 1, 3);

    expect([first, ...others, ...(await seqsUntil(feed, (event) => 'seq' in event && event.seq === 6))]).toEqual(
      upTo(6),
    );
  });

  test('subscribes again when the gateway has ended its subscription', async () => {
    const session_id = await heldSession();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 0 });
    await seqsUntil(feed, (event) => 'seq' in event && event.seq === 2);

    tellGap(session_id);
    await proxy.clientSent(({ method, params }) => method === 'session.subscribe' && params?.['after_seq'] === 2);
    await submitHeld(session_id, 1);

    expect(await seqsUntil(feed, (event) => 'seq' in event && event.seq === 3)).toEqual([3]);
  });

  // A subscription that is ended again and again was asked for again at once, for ever.
  test('waits before it subscribes where the gateway has ended its subscription before', async () => {
    const session_id = await heldSession();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 0 });
    await seqsUntil(feed, (event) => 'seq' in event && event.seq === 2);
    proxy.fromGateway = (frame) => {
      const isAnswer = frame.result?.['after_seq'] === 2;
      if (isAnswer) setImmediate(() => tellGap(session_id));
      return frame;
    };

    tellGap(session_id);
    await proxy.clientSent(({ method, params }) => method === 'session.subscribe' && params?.['after_seq'] === 2);
    for (let call = 0; call < 20; call += 1) await client.call('ping', {});
    const asked = proxy.sentMethod('session.subscribe').length;
    proxy.fromGateway = (frame) => frame;
    await submitHeld(session_id, 1);

    expect(asked).toBe(2);
    expect(await seqsUntil(feed, (event) => 'seq' in event && event.seq === 3)).toEqual([3]);
  });

  test('ends with the deletion of its session, and keeps no subscription', async () => {
    const session_id = await gateway.core.create();
    await gateway.core.turn(session_id, 'a');
    const last = gateway.core.log(session_id).length;
    const { events } = await client.resume({ session_id });

    await client.call('session.delete', { session_id });
    const types: string[] = [];
    for await (const { type } of events) types.push(type);

    expect(types).toEqual(['session.deleted']);
    expect(events.cursor).toBe(last + 1);
    expect(gateway.core.hub.hasListeners(session_id)).toBe(false);
  });

  test('ends with the deletion too when it has missed what is gone', async () => {
    const session_id = await heldSession();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 0 });
    await seqsUntil(feed, (event) => 'seq' in event && event.seq === 2);
    const end = { type: 'session.deleted', session_id, seq: 9, payload: { by: 'local' } };

    proxy.inject({ jsonrpc: '2.0', method: 'event', params: end });

    expect(await seqsUntil(feed, ({ type }) => type === 'session.deleted')).toEqual([9]);
    await expect(seqsUntil(feed, () => false)).rejects.toThrow('the feed has ended');
    await proxy.clientSent(({ method }) => method === 'session.unsubscribe');
  });

  test('knows how far its reader has come, and not how far it has read', async () => {
    const session_id = await heldSession();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 0 });
    const cursors: number[] = [];

    await submitHeld(session_id, 2);
    for await (const event of feed) {
      cursors.push(feed.cursor);
      if ('seq' in event && event.seq === 4) break;
    }

    expect(cursors).toEqual([0, 1, 2, 3]);
  });

  test('stops listening to what its reader has no time for, and catches up later', async () => {
    await gateway.server.close();
    gateway = await serveGateway({ core: { store, limits: { maxQueuedPerSession: 5_000, maxLostStarts: 3 } } });
    proxy.leadTo(gateway.url);
    const session_id = await heldSession();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 0 });
    await submitHeld(session_id, 2_500);
    await proxy.clientSent(({ method }) => method === 'session.unsubscribe');

    expect(await seqsUntil(feed, (event) => 'seq' in event && event.seq === 2_502)).toEqual(upTo(2_502));
  });

  test('of a store that was replaced says that a snapshot is needed', async () => {
    const session_id = await heldSession();
    const feed = client.subscribe({ sessionId: session_id, afterSeq: 0 });
    await seqsUntil(feed, (event) => 'seq' in event && event.seq === 2);

    await gateway.server.close();
    gateway = await serveGateway({
      core: { store },
      rpc: { identity: () => ({ version: '1', instanceId: 'i', epoch: 9, storeId: 'store-2' }) },
    });
    proxy.leadTo(gateway.url);

    await expect(seqsUntil(feed, () => false)).rejects.toMatchObject({
      name: 'GatewayError',
      reason: 'snapshot_required',
    });
  });

  test('of a session that does not exist says so', async () => {
    const feed = client.subscribe({ sessionId: 'nobody', afterSeq: 0 });

    await expect(seqsUntil(feed, () => false)).rejects.toMatchObject({ reason: 'not_found' });
  });
});

describe('a call that is too large', () => {
  const tooLarge = 'x'.repeat(defaultConnectionLimits.max_frame_bytes);

  // E14: the client sent it again after each 1009, for ever.
  test('fails at once and is never sent', async () => {
    const session_id = await heldSession();

    const call = client.call('prompt.submit', { session_id, input_id: 'a', text: tooLarge });

    await expect(call).rejects.toMatchObject({ name: 'ConnectionError', kind: 'frame_too_large' });
    expect(proxy.sent).toEqual([]);
    await client.call('ping', {});
  });

  test('fails after one 1009 when the limit was not known, and the others get through', async () => {
    const session_id = await heldSession();
    proxy.fromGateway = (frame) =>
      frame.params?.type === 'gateway.ready'
        ? ({ ...frame, params: withLimit(frame.params, 100_000_000) } as typeof frame)
        : frame;
    proxy.cut();
    await client.call('ping', {});

    const large = client.call('prompt.submit', { session_id, input_id: 'a', text: tooLarge });
    const small = client.call('prompt.submit', { session_id, input_id: 'b', text: 'Hello' });

    await expect(large).rejects.toMatchObject({ kind: 'frame_too_large' });
    expect(await small).toMatchObject({ input_id: 'b' });
    expect(proxy.connections).toBe(3);
  });
});

function withLimit(params: { payload: Record<string, unknown> }, max_frame_bytes: number): unknown {
  const limits = { ...(params.payload['limits'] as object), max_frame_bytes };
  return { ...params, payload: { ...params.payload, limits } };
}
