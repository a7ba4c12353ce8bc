import { beforeEach, describe, expect, test } from 'vitest';
import { ScriptedModel, textAnswer } from '../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Sessions } from '../../../src/core/use-cases/sessions.ts';
import { StorageError } from '../../../src/core/ports/ledger.ts';
import type { SessionQueries } from '../../../src/core/ports/session-queries.ts';
import { FakePeer } from '../../support/fake-peer.ts';
import { MemoryGateway, quiet } from '../../support/memory-gateway.ts';
import { rpcDependencies } from '../../support/rpc-dependencies.ts';

let model: ScriptedModel;
let core: MemoryGateway;
let peer: FakePeer;
let session_id: string;

beforeEach(async () => {
  model = new ScriptedModel(() => textAnswer('Fine.'));
  core = await MemoryGateway.started({ model });
  peer = FakePeer.connect(rpcDependencies(core));
  session_id = await core.create();
});

/** A session whose first turn runs until `go` is released. */
async function busySession(): Promise<void> {
  model.enqueue([{ kind: 'gate', name: 'go' }, ...textAnswer('At last.')]);
  await peer.call('prompt.submit', { session_id, input_id: 'first', text: 'Hello' });
  await model.reached('go');
}

describe('prompt.submit', () => {
  test('answers a receipt, and the same one for the same id and content', async () => {
    await busySession();

    const first = await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    const again = await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    expect(first).toEqual({
      admission_id: expect.any(String) as string,
      session_id,
      input_id: 'a',
      sequence: 2,
      ahead: 1,
      status: 'queued',
      outcome: null,
      execution_generation: null,
      revision: 1,
      duplicate: false,
      blocked_by: [],
      accepted_at: '2030-01-01T00:00:00.000Z',
    });
    expect(again).toEqual({ ...first, duplicate: true });
  });

  test('of a known id with other content is a conflict that shows the receipt', async () => {
    const { admission_id } = await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    const { error } = await peer.request('prompt.submit', { session_id, input_id: 'a', text: 'Goodbye' });

    expect(error).toMatchObject({ code: 1101, data: { reason: 'admission_conflict', receipt: { admission_id } } });
  });

  test('takes parts, and one part of text is the same as text', async () => {
    const image = { type: 'image', media_type: 'image/png', data: 'aGk=' };
    await peer.call('prompt.submit', { session_id, input_id: 'a', parts: [{ type: 'text', text: 'See' }, image] });
    await core.ended(session_id, 'a');
    await peer.call('prompt.submit', { session_id, input_id: 'b', text: 'Hello' });
    const again = await peer.call('prompt.submit', {
      session_id,
      input_id: 'b',
      parts: [{ type: 'text', text: 'Hello' }],
    });

    expect(again['duplicate']).toBe(true);
    expect(core.requests('turn')[0]?.messages.at(-1)).toMatchObject({
      text: 'See',
      parts: [
        { type: 'text', text: 'See' },
        { type: 'image', mediaType: 'image/png', data: 'aGk=' },
      ],
    });
  });

  test.each([
    ['neither text nor parts', {}],
    ['both text and parts', { text: 'a', parts: [{ type: 'text', text: 'a' }] }],
    ['an empty text', { text: '' }],
    ['half of a surrogate pair', { text: 'a\ud800' }],
    ['a part of another kind', { parts: [{ type: 'reasoning', text: 'a' }] }],
    ['data that is not base64', { parts: [{ type: 'image', media_type: 'image/png', data: 'a b=' }] }],
    ['an input id with a tilde', { input_id: 'a~1', text: 'a' }],
    ['an input id with a control character', { input_id: 'a\n', text: 'a' }],
    ['an input id of 201 characters', { input_id: 'x'.repeat(201), text: 'a' }],
  ])('refuses %s', async (_, params) => {
    const { error } = await peer.request('prompt.submit', { session_id, input_id: 'a', ...params });

    expect(error).toMatchObject({ code: -32602, data: { fields: [expect.anything()] } });
    expect(await peer.call('prompt.list', { session_id, include: 'all' })).toMatchObject({ prompts: [] });
  });

  test('of a fresh id is refused while the gateway stops, and of a known one is answered', async () => {
    await busySession();
    await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    const drained = core.gateway.drain(60_000, new AbortController().signal);

    const known = await peer.request('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    const fresh = await peer.request('prompt.submit', { session_id, input_id: 'b', text: 'Hello' });

    expect(known.result).toMatchObject({ duplicate: true, status: 'queued' });
    expect(fresh.error).toMatchObject({ code: 1304, data: { reason: 'draining', retryable: true } });
    model.release('go');
    await drained;
  });

  test('to a full queue is refused, and of a known id is answered', async () => {
    core = await MemoryGateway.started({ model, limits: { maxQueuedPerSession: 1, maxLostStarts: 3 } });
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create();
    await busySession();
    await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    const known = await peer.request('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    const fresh = await peer.request('prompt.submit', { session_id, input_id: 'b', text: 'Hello' });

    expect(known.result).toMatchObject({ duplicate: true });
    expect(fresh.error).toMatchObject({ code: 1301, data: { reason: 'queue_full', limit: 1, retryable: true } });
  });

  test('while the disk is full is refused, and may be repeated', async () => {
    core.ledger.failNext('append', new StorageError('full', 'the disk is full'));

    const { error } = await peer.request('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    const again = await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    expect(error).toMatchObject({
      data: { reason: 'storage_unavailable', retryable: true, outcome_unknown: false, retry_after_ms: 1_000 },
    });
    expect(again['duplicate']).toBe(false);
  });

  test('that is too large for the storage is refused for good, and the next one is taken', async () => {
    core.ledger.failNext('append', new StorageError('too_large', 'too large'));

    const { error } = await peer.request('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    expect(error).toMatchObject({ code: 1305, data: { reason: 'payload_too_large', retryable: false } });
    expect(await peer.call('prompt.submit', { session_id, input_id: 'b', text: 'Hello' })).toMatchObject({
      duplicate: false,
    });
    expect(core.fatal).toEqual([]);
  });
});

describe('a read whose answer is too large', () => {
  test('is an error of that call', async () => {
    const listAdmissions = () => Promise.reject(new StorageError('too_large', 'too large'));
    const queries = Object.assign(Object.create(core.queries) as SessionQueries, { listAdmissions }); // with the rest of them
    peer = FakePeer.connect(rpcDependencies(core, { queries }));

    const { error } = await peer.request('prompt.list', { session_id });

    expect(error).toMatchObject({ data: { reason: 'payload_too_large', retryable: false, outcome_unknown: false } });
    expect(await peer.call('ping')).toMatchObject({ at: expect.any(String) as string });
  });
});

describe('a list of prompts', () => {
  test('cuts long texts where a client sees that they were cut, and no others', async () => {
    await busySession();
    const texts = ['short', 'x'.repeat(65_536), 'x'.repeat(65_537), '漢'.repeat(100_000), `${'x'.repeat(65_535)}😀`];
    for (const [n, text] of texts.entries()) {
      await peer.call('prompt.submit', { session_id, input_id: `p${String(n)}`, text });
    }

    const listed = (await peer.call('prompt.list', { session_id }))['prompts'] as Shown[];
    const pending = (await peer.call('session.resume', { session_id }))['pending'] as Shown[];

    const expected = [
      [5, undefined],
      [65_536, undefined],
      [65_536, true],
      [21_845, true],
      [65_535, true],
    ];
    for (const shown of [listed, pending]) {
      expect(shown.slice(1).map(({ text, truncated }) => [text.length, truncated])).toEqual(expected);
    }
  });
});

interface Shown {
  readonly text: string;
  readonly truncated?: true;
}

describe('any id of a lineage', () => {
  test('leads to its session, and the answer carries the session’s own id', async () => {
    const deps = rpcDependencies(core);
    const idOf = (id: string): Promise<string | null> => Promise.resolve(id === 'older transcript' ? session_id : null);
    const sessions: Sessions = {
      idOf,
      send: (id, command) => core.sessions.send(id, command),
      state: (id) => core.sessions.state(id),
    };
    peer = FakePeer.connect({ ...deps, sessions });

    const receipt = await peer.call('prompt.submit', { session_id: 'older transcript', input_id: 'a', text: 'Hello' });

    expect(receipt['session_id']).toBe(session_id);
  });

  test('that belongs to none is not found', async () => {
    const { error } = await peer.request('prompt.submit', { session_id: 'nobody', input_id: 'a', text: 'Hello' });

    expect(error).toMatchObject({ code: 1003, data: { reason: 'not_found', what: 'session' } });
  });
});

describe('prompt.receipt, list and cancel', () => {
  test('a receipt is there by either name, for ever', async () => {
    const { admission_id } = await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    await core.ended(session_id, 'a');

    const byInput = await peer.call('prompt.receipt', { session_id, input_id: 'a' });
    const byAdmission = await peer.call('prompt.receipt', { session_id, admission_id });

    expect(byInput).toMatchObject({
      admission_id,
      status: 'terminal',
      outcome: 'completed',
      settled_at: expect.any(String) as string,
    });
    expect(byAdmission).toEqual(byInput);
  });

  test.each([{}, { input_id: 'a', admission_id: 'b' }])('a receipt needs one name: %j', async (key) => {
    const { error } = await peer.request('prompt.receipt', { session_id, ...key });

    expect(error?.data.reason).toBe('invalid_params');
  });

  test('the queue comes in its order, page by page', async () => {
    await busySession();
    for (const input_id of ['a', 'b', 'c'])
      await peer.call('prompt.submit', { session_id, input_id, text: `Prompt ${input_id}` });

    const first = await peer.call('prompt.list', { session_id, limit: 3 });
    const second = await peer.call('prompt.list', { session_id, limit: 3, cursor: first['next_cursor'] });

    expect(first['prompts']).toMatchObject([
      { input_id: 'first', status: 'started', ahead: 0, text: 'Hello' },
      { input_id: 'a', status: 'queued', ahead: 1, text: 'Prompt a' },
      { input_id: 'b', status: 'queued', ahead: 2 },
    ]);
    expect(second).toMatchObject({ prompts: [{ input_id: 'c', ahead: 3 }], next_cursor: null });
  });

  test('a cursor that is none is refused', async () => {
    for (const cursor of ['nonsense', ' ', '0x10', '1e3', 'Infinity']) {
      const { error } = await peer.request('prompt.list', { session_id, cursor });

      expect(error?.data).toMatchObject({ reason: 'invalid_params', fields: [{ path: 'cursor' }] });
    }
  });

  test('a prompt that waits is withdrawn, and again with the same answer', async () => {
    await busySession();
    await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    const cancelled = await peer.call('prompt.cancel', { session_id, input_id: 'a', revision: 1 });
    const again = await peer.call('prompt.cancel', { session_id, input_id: 'a', revision: 1 });

    expect(cancelled).toMatchObject({ status: 'terminal', outcome: 'cancelled', revision: 2 });
    expect(again).toMatchObject({ outcome: 'cancelled', revision: 2 });
  });

  test('a prompt that runs is not withdrawn, and one that has changed neither', async () => {
    await busySession();
    await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    const running = await peer.request('prompt.cancel', { session_id, input_id: 'first' });
    const changed = await peer.request('prompt.cancel', { session_id, input_id: 'a', revision: 7 });

    expect(running.error).toMatchObject({ code: 1204, data: { reason: 'not_queued', receipt: { status: 'started' } } });
    expect(changed.error).toMatchObject({ code: 1103, data: { reason: 'revision_conflict', revision: 1 } });
  });
});

describe('prompt.wait', () => {
  test('answers when the prompt has ended', async () => {
    await busySession();

    const wait = peer.call('prompt.wait', { session_id, input_id: 'first' });
    model.release('go');

    expect(await wait).toMatchObject({ status: 'terminal', outcome: 'completed', settled: true });
  });

  test('answers at once for a prompt that has ended before', async () => {
    await core.turn(session_id, 'a');

    expect(await peer.call('prompt.wait', { session_id, input_id: 'a' })).toMatchObject({ settled: true });
  });

  test('answers when the prompt is withdrawn', async () => {
    await busySession();
    await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    const wait = peer.call('prompt.wait', { session_id, input_id: 'a' });
    await peer.call('prompt.cancel', { session_id, input_id: 'a' });

    expect(await wait).toMatchObject({ outcome: 'cancelled', settled: true });
  });

  test('answers with settled false when the time is over', async () => {
    await busySession();

    const wait = peer.call('prompt.wait', { session_id, input_id: 'first', timeout_ms: 1_000 });
    await core.clock.advance(1_000);

    expect(await wait).toMatchObject({ status: 'started', settled: false });
  });

  test('holds up no later call', async () => {
    await busySession();

    void peer.request('prompt.wait', { session_id, input_id: 'first' });

    expect(await peer.call('prompt.receipt', { session_id, input_id: 'first' })).toMatchObject({ status: 'started' });
  });

  test('misses no end that comes while it begins to wait', async () => {
    await busySession();
    const deps = rpcDependencies(core);
    const sessions: Pick<Sessions, 'idOf' | 'state'> = {
      idOf: (id) => core.sessions.idOf(id),
      state: (id) => core.sessions.state(id),
    };
    // The receipt that it reads is from before the end, and arrives after it.
    const send: Sessions['send'] = async (id, command) => {
      const sent = await deps.sessions.send(id, command);
      if (command.kind === 'receipt' && !released) {
        released = true;
        model.release('go');
        await core.ended(session_id, 'first');
      }
      return sent;
    };
    let released = false;
    peer = FakePeer.connect({ ...deps, sessions: { ...sessions, send } });

    expect(await peer.call('prompt.wait', { session_id, input_id: 'first' })).toMatchObject({ settled: true });
  });

  test('ends with the connection and leaves nobody listening', async () => {
    await busySession();
    void peer.request('prompt.wait', { session_id, input_id: 'first' });
    await quiet();
    const sleeping = core.clock.sleeping;

    peer.hangUp();
    await quiet();

    expect(core.hub.hasListeners(session_id)).toBe(false);
    expect(core.clock.sleeping).toBe(sleeping - 1);
  });

  test('of an unknown prompt is not found', async () => {
    const { error } = await peer.request('prompt.wait', { session_id, input_id: 'nothing' });

    expect(error?.data).toMatchObject({ reason: 'not_found', what: 'admission' });
  });
});

describe('a turn whose fate is unknown', () => {
  beforeEach(async () => {
    await busySession();
    const next = await MemoryGateway.started({ store: core.store });
    core = next;
    peer = FakePeer.connect(rpcDependencies(core));
  });

  test('is what a wait answers, with settled false', async () => {
    expect(await peer.call('prompt.wait', { session_id, input_id: 'first' })).toMatchObject({
      status: 'unknown',
      settled: false,
      execution_generation: 1,
      evidence: { boundary: 'model', owner_epoch: 1, open_tool_calls: [] },
    });
  });

  test('is shown by the gateway’s status without its text', async () => {
    const status = await peer.call('gateway.status');

    expect(status['unknown']).toMatchObject([
      { session_id, input_id: 'first', execution_generation: 1, boundary: 'model' },
    ]);
    expect(JSON.stringify(status)).not.toContain('Hello');
  });

  test('is resolved by its generation only, once', async () => {
    const { admission_id } = await peer.call('prompt.receipt', { session_id, input_id: 'first' });
    const resolve = { session_id, admission_id, execution_generation: 1 };

    const stale = await peer.request('prompt.resolve_unknown', { ...resolve, execution_generation: 2 });
    const resolved = await peer.call('prompt.resolve_unknown', { ...resolve, action: 'retry' });
    const again = await peer.call('prompt.resolve_unknown', { ...resolve, action: 'retry' });
    const other = await peer.request('prompt.resolve_unknown', resolve);

    expect(stale.error).toMatchObject({ code: 1104, data: { execution_generation: 1 } });
    expect(resolved).toMatchObject({
      status: 'terminal',
      outcome: 'interrupted',
      resolution: { action: 'retry', by: 'local' },
      retry: { input_id: 'first~1', duplicate: false },
    });
    expect(again).toMatchObject({
      admission_id,
      retried_by: (resolved['retry'] as { admission_id: string }).admission_id,
    });
    expect(other.error).toMatchObject({ code: 1202, data: { reason: 'already_resolved' } });
  });

  test('of the longest input id is retried under one that is read back', async () => {
    const longest = 'x'.repeat(200);
    core.model.enqueue([{ kind: 'gate', name: 'never' }]);
    const { admission_id } = await peer.call('prompt.receipt', { session_id, input_id: 'first' });
    await peer.call('prompt.resolve_unknown', { session_id, admission_id, execution_generation: 1 });
    await peer.call('prompt.submit', { session_id, input_id: longest, text: 'Hello' });
    await core.model.reached('never');
    core = await MemoryGateway.started({ store: core.store });
    peer = FakePeer.connect(rpcDependencies(core));

    const lost = await peer.call('prompt.receipt', { session_id, input_id: longest });
    const { admission_id: lostId, execution_generation } = lost;
    const resolve = { session_id, admission_id: lostId, execution_generation, action: 'retry' };
    const { retry } = await peer.call('prompt.resolve_unknown', resolve);

    expect(retry).toMatchObject({ input_id: `${longest}~1` });
    expect(await peer.call('prompt.receipt', { session_id, input_id: `${longest}~1` })).toMatchObject({
      admission_id: (retry as { admission_id: string }).admission_id,
    });
  });

  test('is waited for until somebody resolves it when it is awaited by its retry', async () => {
    const { admission_id } = await peer.call('prompt.receipt', { session_id, input_id: 'first' });
    await peer.call('prompt.resolve_unknown', { session_id, admission_id, execution_generation: 1, action: 'retry' });

    expect(await peer.call('prompt.wait', { session_id, input_id: 'first~1' })).toMatchObject({ outcome: 'completed' });
  });
});

test('while work of turns is tried again on a full disk, what waits says that the storage blocks it', async () => {
  await busySession();
  await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
  core.ledger.failNext('append', ...[1, 2].map(() => new StorageError('full', 'the disk is full')));
  model.release('go');
  await quiet();

  const session = await peer.call('session.get', { session_id });
  const snapshot = await peer.call('session.resume', { session_id });
  const { prompts } = await peer.call('prompt.list', { session_id });
  const asked = peer.call('prompt.receipt', { session_id, input_id: 'a' });
  await core.clock.advance(100);

  const blocked = { blocked_by: ['storage'] };
  expect([session, snapshot, await asked]).toMatchObject([blocked, blocked, blocked]);
  expect(prompts).toMatchObject([{ input_id: 'first', blocked_by: [] }, blocked]);

  await core.clock.advance(1_000);
  await core.ended(session_id, 'a');
  expect(await peer.call('session.get', { session_id })).toMatchObject({ blocked_by: [] });
});
