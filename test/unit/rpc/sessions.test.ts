import { beforeEach, describe, expect, test } from 'vitest';
import { ScriptedModel, textAnswer } from '../../../src/adapters/outbound/memory/scripted-model.ts';
import { FakePeer } from '../../support/fake-peer.ts';
import { aCreateRequest, MemoryGateway, quiet } from '../../support/memory-gateway.ts';
import { rpcDependencies } from '../../support/rpc-dependencies.ts';

let model: ScriptedModel;
let core: MemoryGateway;
let peer: FakePeer;

beforeEach(async () => {
  model = new ScriptedModel(() => textAnswer('Fine.'));
  core = await MemoryGateway.started({ model, window: { contextTokens: 10_000_000 } });
  peer = FakePeer.connect(rpcDependencies(core));
});

const seqs = (): unknown[] => peer.events.flatMap((event) => (event.seq === undefined ? [] : [event.seq]));

async function eventOfType(type: string): Promise<Record<string, unknown>> {
  const { params } = await peer.frame((frame) => frame.params?.type === type);
  return params ?? {};
}

describe('a connection', () => {
  test('is greeted with what holds for it', () => {
    expect(peer.frames).toMatchObject([
      {
        jsonrpc: '2.0',
        method: 'event',
        params: {
          type: 'gateway.ready',
          epoch: 1,
          payload: {
            protocol: 'holdfast.v1',
            version: '1.2.3',
            state: 'ready',
            instance_id: 'instance-1',
            store_id: 'store-1',
            principal: 'local',
            scopes: ['read', 'write', 'admin'],
            limits: { max_frame_bytes: 4_194_304, max_batch: 50, max_json_depth: 64 },
          },
        },
      },
    ]);
  });

  test('with the scope read may not write', async () => {
    const reader = FakePeer.connect(rpcDependencies(core), { principalId: 'reader', scopes: ['read'] });

    expect((await reader.request('session.create')).error).toMatchObject({ code: 1002, data: { reason: 'forbidden' } });
    expect((await reader.request('session.list')).error).toBeUndefined();
  });
});

describe('session.create', () => {
  test('answers the snapshot and subscribes', async () => {
    const created = await peer.call('session.create', { request_id: 'r', title: 'Trip', source: 'cli' });
    const session_id = created['session_id'];
    await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    expect(created).toMatchObject({
      created: true,
      stored_session_id: session_id,
      title: 'Trip',
      last_seq: 1,
      messages: [],
      pending: [],
    });
    expect(await eventOfType('admission.queued')).toMatchObject({
      session_id,
      seq: 2,
      payload: { input_id: 'a', sequence: 1 },
    });
  });

  test('with the same request id finds the session that it made, also among calls at once', async () => {
    const calls = [1, 2, 3].map(() => peer.call('session.create', { request_id: 'r', title: 'Trip' }));

    const created = await Promise.all(calls);

    expect(new Set(created.map((session) => session['session_id'])).size).toBe(1);
    expect(created.filter((session) => session['created'])).toHaveLength(1);
  });

  test('with other parameters under the same request id is a conflict', async () => {
    const { session_id } = await peer.call('session.create', { request_id: 'r', title: 'Trip' });

    const { error } = await peer.request('session.create', { request_id: 'r', title: 'Walk' });

    expect(error).toMatchObject({ code: 1102, data: { reason: 'request_conflict', session_id } });
  });

  test('finds the session that it made also when the configuration would forbid it by now', async () => {
    const params = { request_id: 'r', toolsets: ['travel'] };
    const { session_id } = await peer.call('session.create', params);
    const problem = { path: 'toolsets', message: 'has no configured toolset travel' };
    peer = FakePeer.connect(rpcDependencies(core, { checkNewSession: () => [problem] }));

    const again = await peer.call('session.create', params);
    const other = await peer.request('session.create', { ...params, title: 'Walk' });

    expect(again).toMatchObject({ session_id, created: false });
    expect(other.error?.data).toMatchObject({ reason: 'request_conflict', session_id });
  });

  test('with an address that is not configured is refused by its field', async () => {
    const problem = { path: 'base_url', message: 'is not configured' };
    peer = FakePeer.connect(rpcDependencies(core, { checkNewSession: () => [problem] }));

    const { error } = await peer.request('session.create', { base_url: 'https://evil.example' });

    expect(error?.data).toMatchObject({ reason: 'invalid_params', fields: [problem] });
  });
});

describe('session.resume', () => {
  test('answers a snapshot, and the events follow from its own last number on', async () => {
    const session_id = await core.create();
    await core.turn(session_id, 'a');
    const snapshot = await peer.call('session.resume', { session_id });
    await core.turn(session_id, 'b');
    await eventOfType('turn.settled');

    const first = snapshot['last_seq'] as number;
    expect(snapshot['messages']).toMatchObject([
      { role: 'user', kind: 'prompt', text: 'prompt a' },
      { role: 'assistant', kind: 'answer', text: 'Fine.', partial: false },
    ]);
    expect(seqs()).toEqual(
      core
        .log(session_id)
        .map(({ seq }) => seq)
        .filter((seq) => seq > first),
    );
  });

  test('sends no event before its answer', async () => {
    const session_id = await core.create();
    peer.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session.resume', params: { session_id } }));
    await core.submit(session_id, 'a');
    await eventOfType('turn.settled');

    const kinds = peer.frames.slice(1).map((frame) => ('id' in frame ? 'answer' : 'event'));
    expect(kinds[0]).toBe('answer');
    expect(kinds.filter((kind) => kind === 'answer')).toHaveLength(1);
  });

  test('sends no event before its answer, also when a batch takes long', async () => {
    const session_id = await core.create();
    model.enqueue([{ kind: 'hang' }]);
    await core.submit(session_id, 'a');
    const call = { jsonrpc: '2.0', id: 1, method: 'session.subscribe', params: { session_id, after_seq: 0 } };
    const wait = {
      jsonrpc: '2.0',
      id: 2,
      method: 'prompt.wait',
      params: { session_id, input_id: 'a', timeout_ms: 1_000 },
    };
    peer.send(JSON.stringify([call, wait]));
    await core.submit(session_id, 'b');
    await quiet();
    const before = peer.events.length;

    await core.clock.advance(1_000);
    await peer.batch();
    await eventOfType('session.created');

    expect(before).toBe(1); // the greeting
  });

  test('cuts the texts of a long queue, so that they fit one frame together', async () => {
    const session_id = await core.create();
    model.enqueue([{ kind: 'hang' }]);
    for (let index = 0; index < 40; index += 1) await core.submit(session_id, `input ${index}`, 'x'.repeat(60_000));

    const { pending } = await peer.call('session.resume', { session_id });

    const shown = pending as { text: string; truncated?: boolean }[];
    expect(shown).toHaveLength(40);
    expect(shown.reduce((sum, { text }) => sum + text.length, 0)).toBe(1024 * 1024);
    expect([shown[0]?.truncated, shown.at(-1)?.truncated]).toEqual([undefined, true]);
  });

  test('shows what is pending, what runs and what it has said', async () => {
    const session_id = await core.create();
    model.enqueue([{ kind: 'text', text: 'Well, ä' }, { kind: 'gate', name: 'go' }, ...textAnswer('!')]);
    await core.submit(session_id, 'a', 'Hello');
    await core.submit(session_id, 'b', 'And then');
    await model.reached('go');

    const snapshot = await peer.call('session.resume', { session_id });

    expect(snapshot).toMatchObject({
      running: { input_id: 'a', execution_generation: 1, boundary: 'model', stop_requested: false },
      partial: { execution_generation: 1, offset: 8, text: 'Well, ä' },
      pending: [
        {
          input_id: 'a',
          text: 'Hello',
          status: 'started',
          sequence: 1,
          ahead: 0,
          revision: 1,
          execution_generation: 1,
          boundary: 'model',
        },
        {
          input_id: 'b',
          text: 'And then',
          status: 'queued',
          sequence: 2,
          ahead: 1,
          execution_generation: null,
          boundary: 'none',
        },
      ],
      approvals: [],
      blocked_by: [],
      epoch: 1,
      store_id: 'store-1',
      context: { window_tokens: 10_000_000 },
    });
  });

  test('pages backwards with before', async () => {
    const session_id = await core.create();
    for (const input of ['a', 'b', 'c']) await core.turn(session_id, input);

    const newest = await peer.call('session.resume', { session_id, message_limit: 2 });
    const [oldestShown] = newest['messages'] as { id: number }[];
    const older = await peer.call('session.resume', { session_id, message_limit: 2, before: oldestShown?.id });

    expect(newest).toMatchObject({ more_messages: true, messages: [{ text: 'prompt c' }, { text: 'Fine.' }] });
    expect(older).toMatchObject({ more_messages: true, messages: [{ text: 'prompt b' }, { text: 'Fine.' }] });
  });

  test('a further one replaces the subscription: nothing comes twice', async () => {
    const session_id = await core.create();
    await peer.call('session.resume', { session_id });
    await peer.call('session.resume', { session_id });

    await core.turn(session_id, 'a');
    await eventOfType('turn.settled');

    expect(seqs()).toEqual([...new Set(seqs())]);
  });

  test('an unsubscribe that comes while it is under way wins', async () => {
    const session_id = await core.create();
    const resumed = peer.call('session.resume', { session_id });
    const unsubscribed = peer.call('session.unsubscribe', { session_id });
    await Promise.all([resumed, unsubscribed]);

    await core.turn(session_id, 'a');
    await quiet();

    expect(await unsubscribed).toMatchObject({ subscribed: true });
    expect(seqs()).toEqual([]);
  });

  test('keeps its answer to a few megabytes, the newest messages first', async () => {
    const session_id = await core.create();
    const large = 'x'.repeat(900_000);
    for (const input of ['a', 'b', 'c', 'd']) await core.turn(session_id, input, `${input}${large}`);

    const snapshot = await peer.call('session.resume', { session_id });

    expect(snapshot['more_messages']).toBe(true);
    expect((snapshot['messages'] as { text: string }[]).map(({ text }) => text[0])).toEqual(['F', 'c', 'F', 'd', 'F']);
  });
});

describe('session.get and session.list', () => {
  test('get answers the session without its content', async () => {
    const session_id = await core.create({ title: 'Trip' });
    await core.turn(session_id, 'a');

    const session = await peer.call('session.get', { session_id });

    expect(session).toMatchObject({
      title: 'Trip',
      message_count: 2,
      transcripts: 1,
      held: false,
      context: { trigger_tokens: expect.any(Number) as number },
    });
    expect(session).not.toHaveProperty('messages');
  });

  test('get reads nothing that anybody wrote', async () => {
    const session_id = await core.create();
    await core.sessions.send(session_id, { kind: 'hold', hold: { reason: 'lunch', until: null, by: 'local' } });
    await core.submit(session_id, 'a');
    const reads: string[] = [];
    const queries = new Proxy(core.queries, {
      get(target, name) {
        reads.push(String(name));
        const read: unknown = Reflect.get(target, name);
        return typeof read === 'function' ? (read.bind(target) as unknown) : read;
      },
    });
    peer = FakePeer.connect(rpcDependencies(core, { queries, readSnapshot: () => Promise.reject(new Error('no')) }));

    expect(await peer.call('session.get', { session_id })).toMatchObject({ queued: 1, blocked_by: ['session_held'] });
    expect(reads).toEqual(['findSession']);
  });

  test('list answers one row for each session of the caller, page by page', async () => {
    for (const title of ['one', 'two', 'three']) await core.create({ title });
    await core.create({ title: 'of somebody else', principalId: 'other' });

    const first = await peer.call('session.list', { limit: 2 });
    const second = await peer.call('session.list', { limit: 2, cursor: first['next_cursor'] });

    const titles = [first, second].flatMap(({ sessions }) =>
      (sessions as { title: string }[]).map(({ title }) => title),
    );
    expect(titles).toEqual(['three', 'two', 'one']);
    expect(second['next_cursor']).toBeNull();
  });

  test('list refuses a cursor that no page has given', async () => {
    const others = await core.create({ principalId: 'other' });

    for (const cursor of ['nonsense', others]) {
      const { error } = await peer.request('session.list', { cursor });

      expect(error?.data).toMatchObject({ reason: 'invalid_params', fields: [{ path: 'cursor' }] });
    }
  });
});

describe('session.hold, release and interrupt', () => {
  test('a hold stops the queue and says so, and a release lets it go on', async () => {
    const session_id = await core.create();
    await peer.call('session.hold', { session_id, reason: 'lunch' });
    const held = await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    const session = await peer.call('session.get', { session_id });
    await peer.call('session.release', { session_id });

    expect(held['blocked_by']).toEqual(['session_held']);
    expect(session['hold']).toMatchObject({ reason: 'lunch', until: null, by: 'local' });
    expect((await core.ended(session_id, 'a')).outcome).toBe('completed');
  });

  test('an interrupt needs the generation of the turn that runs', async () => {
    const session_id = await core.create();
    model.enqueue([{ kind: 'hang' }]);
    await core.submit(session_id, 'a');
    await model.requested(1);

    const early = await peer.request('session.interrupt', { session_id, execution_generation: 2 });
    const stopped = await peer.call('session.interrupt', { session_id, execution_generation: 1 });
    await core.ended(session_id, 'a');
    const late = await peer.request('session.interrupt', { session_id, execution_generation: 1 });

    expect(early.error).toMatchObject({ code: 1104, data: { reason: 'stale_generation', execution_generation: 1 } });
    expect(stopped).toMatchObject({ execution_generation: 1 });
    expect(late.error).toMatchObject({ code: 1205, data: { reason: 'turn_over', execution_generation: 1 } });
    expect(core.admission(session_id, 'a').outcome).toBe('interrupted');
  });
});

describe('session.subscribe, unsubscribe and events', () => {
  test('a subscription brings everything after its number, once and in order', async () => {
    const session_id = await core.create();
    await core.turn(session_id, 'a');
    const answer = await peer.call('session.subscribe', { session_id, after_seq: 2, store_id: 'store-1' });
    await core.turn(session_id, 'b');
    const last = core.log(session_id).length;
    await peer.frame((frame) => frame.params?.seq === last);

    expect(answer).toMatchObject({ after_seq: 2, last_seq: expect.any(Number) as number });
    expect(seqs()).toEqual(Array.from({ length: last - 2 }, (_, index) => index + 3));
  });

  test('what the model says arrives while it says it', async () => {
    const session_id = await core.create();
    await peer.call('session.subscribe', { session_id, after_seq: 1 });
    await quiet();
    model.enqueue([{ kind: 'text', text: 'Well, ä' }, ...textAnswer('!')]);
    await core.turn(session_id, 'a');

    const deltas = peer.events.filter(({ type }) => type === 'message.delta');
    expect(deltas.map(({ payload }) => [payload['offset'], payload['text']])).toEqual([
      [0, 'Well, ä'],
      [8, '!'],
    ]);
  });

  test.each([
    ['a number from the future', { after_seq: 99 }],
    ['a number of another store', { after_seq: 1, store_id: 'store-2' }],
  ])('%s needs a snapshot', async (_, cursor) => {
    const session_id = await core.create();

    for (const method of ['session.subscribe', 'session.events']) {
      const { error } = await peer.request(method, { session_id, ...cursor });
      expect(error).toMatchObject({ code: 1106, data: { reason: 'snapshot_required' } });
    }
  });

  test('a page of events is what a subscription would have brought', async () => {
    const session_id = await core.create();
    await core.turn(session_id, 'a');
    await peer.call('session.subscribe', { session_id, after_seq: 0 });
    const last = core.log(session_id).length;
    await peer.frame((frame) => frame.params?.seq === last);

    const first = await peer.call('session.events', { session_id, after_seq: 0, limit: 3 });
    const rest = await peer.call('session.events', { session_id, after_seq: 3 });

    const events = [first, rest].flatMap((page) => page['events'] as unknown[]);
    expect(events).toEqual(peer.events.filter(({ seq }) => seq !== undefined));
    expect(rest['last_seq']).toBe(last);
  });

  // E13: one event that no client could take was sent again and again, and nothing behind it ever came.
  test('a huge message is cut in its event, and the events behind it come', async () => {
    const session_id = await core.create();
    await peer.call('session.subscribe', { session_id, after_seq: 0 });
    await core.turn(session_id, 'a', '€'.repeat(1_000_000));
    await eventOfType('turn.settled');

    const { message } = (await eventOfType('message.appended'))['payload'] as {
      message: { text: string; truncated: boolean };
    };
    expect(message.truncated).toBe(true);
    expect(Buffer.byteLength(message.text)).toBeLessThanOrEqual(64 * 1024);
    expect(seqs()).toHaveLength(core.log(session_id).length);
  });

  test('a subscription that has no room ends with a gap, and others of the connection stay', async () => {
    const [slow, other] = [await core.create(), await core.create()];
    await peer.call('session.subscribe', { session_id: slow, after_seq: 1 });
    await peer.call('session.subscribe', { session_id: other, after_seq: 1 });
    await quiet();
    await core.submit(slow, 'a');
    const before = peer.events.at(-1)?.seq;
    peer.hasRoom = false;
    await core.ended(slow, 'a');
    peer.hasRoom = true;
    await core.turn(slow, 'b');
    await core.turn(other, 'c');

    const gap = await eventOfType('subscription.gap');
    expect(gap).toMatchObject({ session_id: slow, payload: { last_seq: before } });
    expect(peer.events.at(-1)).toMatchObject({ session_id: other, type: 'turn.settled' });
    expect(peer.events.filter(({ session_id }) => session_id === slow).at(-1)?.type).toBe('subscription.gap');
  });

  test('more subscriptions than allowed are refused', async () => {
    const deps = rpcDependencies(core);
    peer = FakePeer.connect({ ...deps, limits: { ...deps.limits, max_subscriptions: 1 } });
    const [one, two] = [await core.create(), await core.create()];
    await peer.call('session.subscribe', { session_id: one, after_seq: 0 });

    const { error } = await peer.request('session.subscribe', { session_id: two, after_seq: 0 });
    await peer.call('session.unsubscribe', { session_id: one });

    expect(error?.data).toMatchObject({ reason: 'overloaded', limit: 1 });
    await peer.call('session.subscribe', { session_id: two, after_seq: 0 });
  });

  describe.each(['session.create', 'session.fork'])('%s where no subscription has room', (method) => {
    let params: object;

    beforeEach(async () => {
      const deps = rpcDependencies(core);
      peer = FakePeer.connect({ ...deps, limits: { ...deps.limits, max_subscriptions: 2 } });
      const one = await core.create();
      await core.turn(one, 'a');
      await peer.call('session.subscribe', { session_id: one, after_seq: 0 });
      params = method === 'session.create' ? {} : { session_id: one, message_id: 2 };
    });

    test('is refused, and nothing was made', async () => {
      await peer.call('session.subscribe', { session_id: await core.create(), after_seq: 0 });

      const { error } = await peer.request(method, params);

      expect(error?.data).toMatchObject({ reason: 'overloaded', retryable: true, limit: 2 });
      expect(core.store.states()).toHaveLength(2);
    });

    test('makes as many as have room, also among calls at once', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => peer.request(method, params)));

      expect(answers.map(({ error }) => error?.data.reason ?? 'made').sort()).toEqual([
        'made',
        'overloaded',
        'overloaded',
      ]);
      expect(core.store.states()).toHaveLength(2);
    });

    test('takes no room when it fails', async () => {
      const conflict = { ...params, request_id: 'r' };
      await core.createSession(aCreateRequest({ requestId: 'r', title: 'Another' }));

      const refused = await peer.request(method, conflict);
      const made = await peer.call(method, params);

      expect(refused.error?.data).toMatchObject({ reason: 'request_conflict' });
      expect(made).toMatchObject({ created: true });
    });
  });

  test('a connection that has gone leaves nobody listening', async () => {
    const session_id = await core.create();
    await peer.call('session.resume', { session_id });

    peer.hangUp();

    expect(core.hub.hasListeners(session_id)).toBe(false);
  });

  test.each(['session.create', 'session.fork', 'session.resume', 'session.subscribe'])(
    'a connection that goes while its %s is under way leaves nobody listening',
    async (method) => {
      const session_id = await core.create();
      await core.turn(session_id, 'a prompt');
      const known = method === 'session.subscribe' ? { session_id, after_seq: 0 } : { session_id };
      const answer = peer.request(method, method === 'session.create' ? { source: 'cli' } : known);

      peer.hangUp();

      const { result } = (await answer) as { result?: { session_id?: string } };
      expect(core.hub.hasListeners(result?.session_id ?? session_id)).toBe(false);
    },
  );
});

describe('rpc.discover', () => {
  test('answers the document of the protocol', async () => {
    expect(await peer.call('rpc.discover')).toMatchObject({ openrpc: '1.3.2', info: { version: 'holdfast.v1' } });
  });
});
