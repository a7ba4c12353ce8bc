import { beforeEach, describe, expect, test } from 'vitest';
import {
  failedWith,
  ScriptedModel,
  textAnswer,
  toolAnswer,
} from '../../../src/adapters/outbound/memory/scripted-model.ts';
import { ScriptedTools } from '../../../src/adapters/outbound/memory/scripted-tools.ts';
import { aToolCall } from '../../support/builders.ts';
import { FakePeer } from '../../support/fake-peer.ts';
import { MemoryGateway, said } from '../../support/memory-gateway.ts';
import { rpcDependencies } from '../../support/rpc-dependencies.ts';

let model: ScriptedModel;
let core: MemoryGateway;
let peer: FakePeer;
let session_id: string;

beforeEach(async () => {
  model = new ScriptedModel(() => textAnswer('Fine.'));
  core = await MemoryGateway.started({ model });
  peer = FakePeer.connect(rpcDependencies(core));
  session_id = await core.create({ title: 'Trip' });
});

/** A session whose first turn runs until `go` is released, and whose queue holds these prompts. */
async function busyWith(...inputs: readonly string[]): Promise<void> {
  model.enqueue([{ kind: 'gate', name: 'go' }, ...textAnswer('At last.')]);
  await core.submit(session_id, 'running');
  await model.reached('go');
  for (const input of inputs) await core.submit(session_id, input);
}

const refusalOf = async (method: string, params: object): Promise<unknown> =>
  (await peer.request(method, { session_id, ...params })).error?.data;

const textsOf = (snapshot: Record<string, unknown>): readonly string[] =>
  (snapshot['messages'] as { text: string }[]).map(({ text }) => text);

describe('session.fork', () => {
  test('answers a session of its own, cut behind the step, and subscribes to it', async () => {
    await core.turn(session_id, 'a');
    await core.turn(session_id, 'b');

    const fork = await peer.call('session.fork', { session_id, message_id: 2 });
    await peer.call('prompt.submit', { session_id: fork['session_id'], input_id: 'a', text: 'Another way' });
    const { params } = await peer.frame((frame) => frame.params?.type === 'turn.settled');

    expect(fork).toMatchObject({ created: true, title: 'Trip', pending: [] });
    expect(textsOf(fork)).toEqual(['prompt a', 'Fine.']);
    expect(params).toMatchObject({ session_id: fork['session_id'] });
    expect(await core.texts(session_id)).toHaveLength(4);
    expect(await core.texts(String(fork['session_id']))).toEqual([
      'user: prompt a',
      'assistant: Fine.',
      'user: Another way',
      'assistant: Fine.',
    ]);
  });

  test('takes a call with its result, whichever of the two is named', async () => {
    model.enqueue(toolAnswer([aToolCall({ id: 'call-1', name: 'scripted__look' })]));
    const tools = new ScriptedTools({ look: () => ({ kind: 'answered', text: 'seen', isError: false }) });
    core = await MemoryGateway.started({ model, tools });
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create({ toolsets: ['scripted.look'] });
    await core.turn(session_id, 'a');

    const atCall = await peer.call('session.fork', { session_id, message_id: 2 });
    const atResult = await peer.call('session.fork', { session_id, message_id: 3 });
    const atPrompt = await peer.call('session.fork', { session_id, message_id: 1 });

    expect(textsOf(atCall)).toEqual(['prompt a', '', 'seen']);
    expect(textsOf(atResult)).toEqual(textsOf(atCall));
    expect(textsOf(atPrompt)).toEqual([]);
  });

  test('at the note of a prompt that was too large takes neither along: the prompt would brick the fork as well', async () => {
    const refusal = [failedWith('payload_too_large', 'Request Entity Too Large')];
    model = new ScriptedModel((request) =>
      said(request).some((text) => text.includes('far too much')) ? refusal : textAnswer('Fine.'),
    );
    core = await MemoryGateway.started({ model });
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create();
    await core.turn(session_id, 'a');
    const { failure } = await core.turn(session_id, 'b', 'far too much');
    const note = core.log(session_id).findLast((event) => event.type === 'message.appended')?.message;

    const fork = await peer.call('session.fork', { session_id, message_id: note?.id });
    const after = await core.turn(String(fork['session_id']), 'c');

    expect(failure?.reason).toBe('payload_too_large');
    expect(note?.kind).toBe('note');
    expect(textsOf(fork)).toEqual(['prompt a', 'Fine.']);
    expect(after.outcome).toBe('completed');
  });

  test('with the same request id is the same fork, also among calls at once, and with other parameters a conflict', async () => {
    await core.turn(session_id, 'a');
    const params = { session_id, message_id: 2, request_id: 'r' };

    const forks = await Promise.all([1, 2, 3].map(() => peer.call('session.fork', params)));
    const id = forks[0]?.['session_id'];

    expect(forks.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(forks.map((fork) => fork['session_id']))).toEqual(new Set([id]));
    for (const other of [{ message_id: 1 }, { title: 'Walk' }])
      expect(await refusalOf('session.fork', { ...params, ...other })).toMatchObject({
        reason: 'request_conflict',
        session_id: id,
      });
    const created = await peer.request('session.create', { request_id: 'r' });
    expect(created.error?.data.reason).toBe('request_conflict');
  });

  test('of a session that is deleted meanwhile is not found', async () => {
    await core.turn(session_id, 'a');
    core.ledger.beforeNext('append', () => core.sessions.send(session_id, { kind: 'delete', by: 'local' }));

    expect(await refusalOf('session.fork', { message_id: 2 })).toMatchObject({ reason: 'not_found', what: 'session' });
  });

  test('of a request that was answered is the same after the original is gone', async () => {
    await core.turn(session_id, 'a');
    const params = { session_id, message_id: 2, request_id: 'r', title: 'Walk' };
    const fork = await peer.call('session.fork', params);
    await peer.call('session.delete', { session_id });

    const again = await peer.call('session.fork', params);

    expect(again).toMatchObject({ session_id: fork['session_id'], created: false, title: 'Walk' });
    expect(textsOf(again)).toEqual(['prompt a', 'Fine.']);
  });

  test('is made while the original runs', async () => {
    await core.turn(session_id, 'a');
    await busyWith('b');

    const fork = await peer.call('session.fork', { session_id, message_id: 2 });

    expect(textsOf(fork)).toEqual(['prompt a', 'Fine.']);
    expect(core.admission(session_id, 'b').status).toBe('queued');
  });

  test.each([
    ['a message that is not there', { message_id: 99 }, { reason: 'not_found', what: 'message' }],
    ['no message', {}, { reason: 'invalid_params', fields: [{ path: 'message_id' }] }],
    [
      'a title of two lines',
      { message_id: 2, title: 'a\nb' },
      { reason: 'invalid_params', fields: [{ path: 'title' }] },
    ],
  ])('of %s is refused', async (_what, params, data) => {
    await core.turn(session_id, 'a');

    expect(await refusalOf('session.fork', params)).toMatchObject(data);
  });

  test('takes no message of another session', async () => {
    await core.turn(session_id, 'a');
    const other = await core.create();

    const { error } = await peer.request('session.fork', { session_id: other, message_id: 2 });

    expect(error?.data).toMatchObject({ reason: 'not_found', what: 'message' });
  });
});

describe('session.update', () => {
  test('changes what it names, at the revision that the caller has seen', async () => {
    const first = await peer.call('session.update', { session_id, title: 'Walk', archived: true, revision: 1 });
    const stale = await refusalOf('session.update', { pinned: true, revision: 1 });
    const session = await peer.call('session.get', { session_id });

    expect(first).toEqual({ session_id, revision: 2 });
    expect(stale).toMatchObject({ reason: 'revision_conflict', revision: 2 });
    expect(session).toMatchObject({ title: 'Walk', archived: true, pinned: false, revision: 2 });
  });

  test('that changes nothing is no new revision', async () => {
    expect(await peer.call('session.update', { session_id, title: 'Trip' })).toEqual({ session_id, revision: 1 });
    expect(core.story(session_id)).toEqual(['session.created']);
  });

  test('takes a title away', async () => {
    await peer.call('session.update', { session_id, title: null });

    expect(await peer.call('session.get', { session_id })).toMatchObject({ title: null });
  });

  test('of the model waits for no turn: while one runs it is refused, and a title is not', async () => {
    await busyWith();

    const model = await refusalOf('session.update', { model: 'larger' });
    await peer.call('session.update', { session_id, title: 'Walk' });

    expect(model).toMatchObject({ reason: 'session_busy', receipt: { input_id: 'running', status: 'started' } });
  });

  test.each([
    ['a provider that is not configured', { provider: 'unheard', model: 'small' }, 'provider'],
    ['a provider without a model', { provider: 'custom' }, 'model'],
    ['an address without a provider', { model: 'small', base_url: 'http://127.0.0.1:8000/v1' }, 'provider'],
    ['an address alone', { base_url: 'http://127.0.0.1:8000/v1' }, 'provider'],
    ['a title that is empty', { title: '' }, 'title'],
    ['a revision that is none', { revision: -1 }, 'revision'],
  ])('refuses %s', async (_what, params, path) => {
    const problems = [{ path: 'provider', message: 'is not configured' }];
    const checkAddress = () => ({ problems, baseUrl: null, isStandard: false });
    peer = FakePeer.connect(rpcDependencies(core, { checkAddress }));

    expect(await refusalOf('session.update', params)).toMatchObject({ reason: 'invalid_params', fields: [{ path }] });
  });
});

describe('session.delete', () => {
  test('is idempotent, and known input ids keep their receipt', async () => {
    await core.turn(session_id, 'a', 'Hello');
    const receipt = await peer.call('prompt.receipt', { session_id, input_id: 'a' });
    const first = await peer.call('session.delete', { session_id });
    await core.clock.advance(60_000);

    const again = await peer.call('session.delete', { session_id });
    const known = await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });

    expect(again).toEqual(first);
    expect(await peer.call('prompt.receipt', { session_id, input_id: 'a' })).toEqual(receipt);
    expect(known).toMatchObject({ ...receipt, duplicate: true });
    expect(await refusalOf('prompt.submit', { input_id: 'a', text: 'Other' })).toMatchObject({
      reason: 'admission_conflict',
    });
    for (const [method, params] of [
      ['prompt.submit', { input_id: 'b', text: 'Hello' }],
      ['prompt.receipt', { input_id: 'b' }],
      ['prompt.edit', { input_id: 'b', text: 'Hello' }],
      ['prompt.move', { input_id: 'b', to: 'first' }],
      ['session.hold', { reason: 'lunch' }],
      ['session.interrupt', { execution_generation: 1 }],
      ['session.steer', { execution_generation: 1, input_id: 's', text: 'Hello' }],
      ['session.subscribe', { after_seq: 0 }],
      ['session.unsubscribe', {}],
      ['approval.list', {}],
    ] as const)
      expect([method, await refusalOf(method, params)]).toMatchObject([method, { reason: 'not_found' }]);
    expect(await peer.call('session.list', { archived: 'include' })).toMatchObject({ sessions: [] });
  });

  test('of a session in which something waits or runs is refused', async () => {
    await busyWith('a');

    const running = await refusalOf('session.delete', {});
    await peer.call('session.hold', { session_id, reason: 'lunch' });
    model.release('go');
    await core.ended(session_id, 'running');
    const waiting = await refusalOf('session.delete', {});

    expect(running).toMatchObject({ reason: 'session_busy', receipt: { input_id: 'running', status: 'started' } });
    expect(waiting).toMatchObject({ reason: 'session_busy', receipt: { input_id: 'a', status: 'queued' } });
  });

  test('of a session with a turn of unknown fate is refused until it is resolved', async () => {
    await busyWith();
    core = await MemoryGateway.started({ store: core.store });
    peer = FakePeer.connect(rpcDependencies(core));

    const { admission_id } = await peer.call('prompt.receipt', { session_id, input_id: 'running' });
    const unknown = await refusalOf('session.delete', {});
    await peer.call('prompt.resolve_unknown', { session_id, admission_id, execution_generation: 1 });

    expect(unknown).toMatchObject({ reason: 'session_busy', receipt: { status: 'unknown' } });
    await peer.call('session.delete', { session_id });
  });

  test('is told to those who listen, as the last event', async () => {
    await peer.call('session.resume', { session_id });

    await peer.call('session.delete', { session_id });

    const { params } = await peer.frame((frame) => frame.params?.type === 'session.deleted');
    expect(params).toMatchObject({ session_id, seq: core.log(session_id).at(-1)?.seq });
    expect(core.hub.hasListeners(session_id)).toBe(false);
  });
});

describe('prompt.edit', () => {
  test('gives a prompt other content, and its identity stays', async () => {
    await busyWith('a');

    const edited = await peer.call('prompt.edit', { session_id, input_id: 'a', revision: 1, text: 'Better' });
    const again = await peer.call('prompt.submit', { session_id, input_id: 'a', text: 'prompt a' });
    model.release('go');
    await core.ended(session_id, 'a');

    expect(edited).toMatchObject({ input_id: 'a', status: 'queued', revision: 2, duplicate: false });
    expect(again).toMatchObject({ admission_id: edited['admission_id'], revision: 2, duplicate: true });
    expect(core.requests('turn').at(-1)?.messages.at(-1)).toMatchObject({ text: 'Better' });
    expect(await refusalOf('prompt.submit', { input_id: 'a', text: 'Better' })).toMatchObject({
      reason: 'admission_conflict',
    });
  });

  test('at another revision is refused', async () => {
    await busyWith('a');
    await peer.call('prompt.edit', { session_id, input_id: 'a', text: 'Better' });

    expect(await refusalOf('prompt.edit', { input_id: 'a', text: 'Best', revision: 1 })).toMatchObject({
      reason: 'revision_conflict',
      revision: 2,
      receipt: { input_id: 'a' },
    });
  });

  test('with parts that the model does not take is refused by the place of the part', async () => {
    core = await MemoryGateway.started({ model, window: { takes: { images: false } } });
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create();
    await busyWith('a');
    const parts = [
      { type: 'text', text: 'See' },
      { type: 'image', media_type: 'image/png', data: 'aGk=' },
    ];

    expect(await refusalOf('prompt.edit', { input_id: 'a', parts })).toMatchObject({
      reason: 'invalid_params',
      fields: [{ path: 'parts.1' }],
    });
    expect(core.admission(session_id, 'a').revision).toBe(1);
  });

  test.each([
    ['no content', { input_id: 'a' }],
    ['two contents', { input_id: 'a', text: 'b', parts: [{ type: 'text', text: 'b' }] }],
    ['no name', { text: 'b' }],
    ['two names', { input_id: 'a', admission_id: 'b', text: 'b' }],
  ])('refuses %s', async (_what, params) => {
    expect(await refusalOf('prompt.edit', params)).toMatchObject({ reason: 'invalid_params' });
  });
});

describe('prompt.move', () => {
  const queue = async (): Promise<readonly unknown[]> => {
    const { prompts } = await peer.call('prompt.list', { session_id });
    return (prompts as Record<string, unknown>[]).map((prompt) => prompt['input_id']);
  };

  test('gives a prompt another place, behind the turn that runs', async () => {
    await busyWith('a', 'b', 'c');

    const first = await peer.call('prompt.move', { session_id, input_id: 'c', to: 'first', revision: 1 });
    expect(await queue()).toEqual(['running', 'c', 'a', 'b']);
    await peer.call('prompt.move', { session_id, input_id: 'c', to: 'last' });
    expect(await queue()).toEqual(['running', 'a', 'b', 'c']);
    const { admissionId: before } = core.admission(session_id, 'b');
    await peer.call('prompt.move', { session_id, input_id: 'c', before });
    expect(await queue()).toEqual(['running', 'a', 'c', 'b']);

    expect(first).toMatchObject({ input_id: 'c', ahead: 1, revision: 2 });
  });

  test('at another revision, or before a prompt that does not wait, is refused', async () => {
    await busyWith('a', 'b');
    const { admissionId: before } = core.admission(session_id, 'running');

    expect(await refusalOf('prompt.move', { input_id: 'b', to: 'first', revision: 9 })).toMatchObject({
      reason: 'revision_conflict',
      revision: 1,
    });
    expect(await refusalOf('prompt.move', { input_id: 'b', before })).toMatchObject({ reason: 'not_found' });
    expect(await refusalOf('prompt.move', { input_id: 'b', before: 'nothing' })).toMatchObject({ reason: 'not_found' });
    expect(await queue()).toEqual(['running', 'a', 'b']);
  });

  test.each([
    ['no place', { input_id: 'a' }],
    ['two places', { input_id: 'a', to: 'first', before: 'b' }],
    ['a place that is none', { input_id: 'a', to: 'middle' }],
  ])('refuses %s', async (_what, params) => {
    expect(await refusalOf('prompt.move', params)).toMatchObject({ reason: 'invalid_params' });
  });
});

describe.each([
  ['prompt.edit', { text: 'Better' }],
  ['prompt.move', { to: 'first' }],
])('%s', (method, change) => {
  test('of a prompt that runs, has ended or was withdrawn is refused with its receipt', async () => {
    await core.turn(session_id, 'done');
    await busyWith('withdrawn');
    await peer.call('prompt.cancel', { session_id, input_id: 'withdrawn' });

    for (const [input_id, status, outcome] of [
      ['running', 'started', null],
      ['done', 'terminal', 'completed'],
      ['withdrawn', 'terminal', 'cancelled'],
    ])
      expect(await refusalOf(method, { input_id, ...change })).toMatchObject({
        reason: 'not_queued',
        receipt: { input_id, status, outcome },
      });
  });

  test('of a steer is refused: its turn may be reading it', async () => {
    await busyWith();
    await peer.call('session.steer', { session_id, execution_generation: 1, input_id: 's', text: 'Be quick.' });

    expect(await refusalOf(method, { input_id: 's', ...change })).toMatchObject({
      reason: 'not_queued',
      receipt: { input_id: 's', delivery: 'steer' },
    });
  });

  test('of a prompt that nobody sent is not found', async () => {
    expect(await refusalOf(method, { input_id: 'nothing', ...change })).toMatchObject({
      reason: 'not_found',
      what: 'admission',
    });
  });
});
