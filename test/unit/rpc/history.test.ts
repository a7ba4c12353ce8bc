import { beforeEach, describe, expect, test } from 'vitest';
import { ScriptedModel, textAnswer, toolAnswer } from '../../../src/adapters/outbound/memory/scripted-model.ts';
import { ScriptedTools } from '../../../src/adapters/outbound/memory/scripted-tools.ts';
import { Secrets } from '../../../src/adapters/outbound/logging/secrets.ts';
import { makeExportSession } from '../../../src/core/use-cases/export-session.ts';
import { aToolCall } from '../../support/builders.ts';
import { FakePeer } from '../../support/fake-peer.ts';
import { MemoryGateway } from '../../support/memory-gateway.ts';
import { rpcDependencies } from '../../support/rpc-dependencies.ts';
import { textOf } from '../core/use-cases/pressure.ts';

interface Entry {
  readonly type: 'message' | 'prompt' | 'compression';
  readonly seq: number;
  readonly text?: string;
  readonly active?: boolean;
  readonly message?: { readonly id: number; readonly kind: string; readonly text: string };
  readonly summary?: { readonly text: string };
}

interface Page {
  readonly entries: readonly Entry[];
  readonly older_cursor: string | null;
  readonly newer_cursor: string;
  readonly at_end: boolean;
}

let core: MemoryGateway;
let peer: FakePeer;
let session_id: string;

/** Five turns, two of which compress before they ask; a withdrawn prompt; then another session of somebody else. */
async function aCompressedSession(inPlace: boolean): Promise<void> {
  let summaries = 0;
  const model = new ScriptedModel((request) =>
    request.purpose === 'summary'
      ? textAnswer(`SUMMARY ${String((summaries += 1))}`)
      : textAnswer(textOf(100, `answer${String(request.messages.length)}`)),
  );
  const window = { contextTokens: 1000, outputTokens: 100 };
  core = await MemoryGateway.started({ model, window, policy: { inPlace } });
  peer = FakePeer.connect(rpcDependencies(core));
  session_id = await core.create({ title: 'Trip' });
  for (const word of ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta'])
    await core.turn(session_id, word, textOf(100, word));
  await peer.call('session.hold', { session_id, reason: 'lunch' });
  await core.submit(session_id, 'withdrawn', 'never sent');
  await peer.call('prompt.cancel', { session_id, input_id: 'withdrawn' });
  await core.create({ title: 'of somebody else', principalId: 'other' });
}

const pageOf = async (params: object): Promise<Page> =>
  (await peer.call('session.history', { session_id, ...params })) as unknown as Page; // read, and checked by its method

async function forwards(limit: number): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  for (let after = '0'; ;) {
    const page = await pageOf({ after, limit });
    all.push(...page.entries);
    if (page.at_end) return all;
    after = page.newer_cursor;
  }
}

async function backwards(limit: number): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  for (let before: string | null = null; ;) {
    const page: Page = await pageOf(before === null ? { limit } : { before, limit });
    all.unshift(...page.entries);
    if (page.older_cursor === null) return all;
    before = page.older_cursor;
  }
}

/** The first word of everything that was said, with the borders. */
const linesOf = (entries: readonly Entry[]): readonly string[] =>
  entries.map(({ type, text, message, summary }) => {
    const said =
      type === 'message' ? message?.text : type === 'prompt' ? `(${String(text)})` : `[${summary?.text ?? ''}]`;
    return type === 'message' ? (said?.split(' ')[0] ?? '') : (said ?? '');
  });

const promptsIn = (entries: readonly Entry[]): readonly string[] =>
  linesOf(entries.filter(({ message }) => message?.kind === 'prompt'));

const refusalOf = async (method: string, params: object): Promise<unknown> =>
  (await peer.request(method, { session_id, ...params })).error?.data;

const deleted = async (): Promise<unknown> => peer.call('session.delete', { session_id });

describe.each([
  ['rotated', false],
  ['in place', true],
])('session.history of a session that was compressed (%s)', (_how, inPlace) => {
  beforeEach(() => aCompressedSession(inPlace));

  test.each([1, 2, 3, 100])('shows each message once, with the borders, in pages of %i both ways', async (limit) => {
    const ahead = await forwards(limit);
    const back = await backwards(limit);

    expect(back).toEqual(ahead);
    expect(promptsIn(ahead)).toEqual(['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta']);
    expect(ahead.filter(({ message }) => message?.kind === 'answer')).toHaveLength(7);
    expect(new Set(ahead.map(({ seq }) => seq)).size).toBe(ahead.length);
    expect(linesOf(ahead.filter(({ type }) => type !== 'message'))).toEqual([
      '[SUMMARY 1]',
      '[SUMMARY 2]',
      '(never sent)',
    ]);
  });

  test('keeps its cursors while the session goes on', async () => {
    const page = await pageOf({ limit: 2 });
    await peer.call('session.release', { session_id });
    await core.turn(session_id, 'later', 'later');

    const newer = await pageOf({ after: page.newer_cursor });
    const older = await pageOf({ before: page.older_cursor, limit: 2 });

    expect(linesOf(newer.entries)[0]).toBe('later');
    expect(newer).toMatchObject({ at_end: true });
    expect(older.at_end).toBe(false);
    expect(older.entries).toEqual((await forwards(100)).slice(-6, -4).slice(0, 2));
  });

  test('is the same by any id of the lineage', async () => {
    const lineage = await peer.call('session.lineage', { session_id });
    const whole = await pageOf({});

    for (const { id } of lineage['transcripts'] as { id: string }[]) {
      expect(await peer.call('session.history', { session_id: id })).toEqual(whole);
      expect(await peer.call('session.lineage', { session_id: id })).toEqual(lineage);
    }
  });

  test('has borders that the lineage tells of as well', async () => {
    const { transcripts, compressions, stored_session_id } = await peer.call('session.lineage', { session_id });
    const borders = (await forwards(100)).filter(({ type }) => type === 'compression');

    expect(compressions).toMatchObject([{ status: 'completed', trigger: 'preflight' }, { status: 'completed' }]);
    expect(borders).toMatchObject(
      (compressions as Record<string, unknown>[]).map(({ compression_id, parent_transcript, child_transcript }) => ({
        compression_id,
        parent_transcript,
        child_transcript,
      })),
    );
    expect((transcripts as { id: string }[]).at(-1)?.id).toBe(stored_session_id);
    expect(transcripts).toHaveLength(inPlace ? 1 : 3);
  });

  test('is a page of nothing behind its end, from which everything is older', async () => {
    const { entries, newer_cursor } = await pageOf({});

    const behind = await pageOf({ after: newer_cursor });

    expect(behind).toMatchObject({ entries: [], newer_cursor, at_end: true });
    expect((await pageOf({ before: behind.older_cursor })).entries).toEqual(entries);
  });
});

describe('session.history', () => {
  beforeEach(() => aCompressedSession(false));

  test.each([
    ['both cursors', { before: '3', after: '3' }, 'before'],
    ['a cursor before which is none', { before: 'x' }, 'before'],
    ['a cursor after which is none', { after: '-1' }, 'after'],
    ['no entries at all', { limit: 0 }, 'limit'],
    ['more entries than a page holds', { limit: 501 }, 'limit'],
    ['a field that nobody knows', { offset: 1 }, 'offset'],
  ])('refuses %s', async (_what, params, path) => {
    expect(await refusalOf('session.history', params)).toMatchObject({ reason: 'invalid_params', fields: [{ path }] });
  });

  test('cuts a text that is long and says so, and session.content has it whole', async () => {
    const long = 'ä'.repeat(100_000);
    core = await MemoryGateway.started({ window: { contextTokens: 10_000_000 } });
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create();
    await core.turn(session_id, 'a', long);

    const [entry] = (await pageOf({})).entries;
    const content = await peer.call('session.content', { session_id, message_id: entry?.message?.id });

    expect(entry?.message).toMatchObject({ truncated: true });
    expect(content).toEqual({ text: long, offset: 0, next_offset: null, length: long.length });
  });
});

describe('session.content', () => {
  test('answers a text in pieces that are the text', async () => {
    const long = '🦓ab'.repeat(300_000);
    core = await MemoryGateway.started({ window: { contextTokens: 10_000_000 } });
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create();
    await core.turn(session_id, 'a', long);
    const pieces: string[] = [];

    for (let offset: unknown = 0; offset !== null;) {
      const piece = await peer.call('session.content', { session_id, message_id: 1, offset });
      pieces.push(piece['text'] as string);
      offset = piece['next_offset'];
    }

    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe(long);
    expect(pieces.every((piece) => !/\p{Cs}/u.test(piece))).toBe(true);
  });

  test('answers the arguments of a call, a part, and a prompt that was never sent', async () => {
    const model = new ScriptedModel(() => textAnswer('Fine.'));
    model.enqueue(toolAnswer([aToolCall({ id: 'call-1', name: 'scripted__look', arguments: '{"far":true}' })]));
    const tools = new ScriptedTools({ look: () => ({ kind: 'answered', text: 'seen', isError: false }) });
    core = await MemoryGateway.started({ model, tools });
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create({ toolsets: ['scripted.look'] });
    const image = { type: 'image', media_type: 'image/png', data: 'aGk=' };
    await peer.call('prompt.submit', { session_id, input_id: 'a', parts: [{ type: 'text', text: 'See' }, image] });
    await core.ended(session_id, 'a');
    await peer.call('session.hold', { session_id, reason: 'lunch' });
    const { admission_id } = await peer.call('prompt.submit', { session_id, input_id: 'b', text: 'Not sent' });
    await peer.call('prompt.cancel', { session_id, admission_id });
    const textIn = async (params: object): Promise<unknown> =>
      (await peer.call('session.content', { session_id, ...params }))['text'];

    expect(await textIn({ message_id: 2, tool_call: 0 })).toBe('{"far":true}');
    expect(await textIn({ message_id: 1, part: 1 })).toBe('aGk=');
    expect(await textIn({ message_id: 1, part: 0 })).toBe('See');
    expect(await textIn({ admission_id })).toBe('Not sent');
    for (const missing of [{ message_id: 99 }, { message_id: 1, part: 7 }, { message_id: 1, tool_call: 0 }])
      expect(await refusalOf('session.content', missing)).toMatchObject({ reason: 'not_found', what: 'message' });
    expect(await refusalOf('session.content', { admission_id: 'none' })).toMatchObject({
      reason: 'not_found',
      what: 'admission',
    });
    for (const bad of [{}, { message_id: 1, admission_id }])
      expect(await refusalOf('session.content', bad)).toMatchObject({ reason: 'invalid_params' });
  });

  test('shows and answers the parts of a prompt that waits, and of one that was never sent', async () => {
    core = await MemoryGateway.started();
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create();
    await peer.call('session.hold', { session_id, reason: 'lunch' });
    const parts = [
      { type: 'image', media_type: 'image/png', data: 'aGk=' },
      { type: 'file', media_type: 'text/plain', data: 'aGVsbG8=', name: 'a.txt' },
    ];
    const { admission_id } = await peer.call('prompt.submit', { session_id, input_id: 'a', parts });
    const shown = {
      text: '',
      parts: [
        { type: 'image', media_type: 'image/png', bytes: 2 },
        { type: 'file', media_type: 'text/plain', bytes: 5, name: 'a.txt' },
      ],
    };
    const content = { admission_id, part: 1 };

    expect(await peer.call('prompt.list', { session_id })).toMatchObject({ prompts: [shown] });
    expect(await peer.call('session.resume', { session_id })).toMatchObject({ pending: [shown] });
    await peer.call('prompt.cancel', { session_id, admission_id });
    expect((await pageOf({})).entries.at(-1)).toMatchObject({ type: 'prompt', ...shown });
    expect(await peer.call('session.content', { session_id, ...content })).toMatchObject({ text: 'aGVsbG8=' });
    expect(await refusalOf('session.content', { admission_id, part: 2 })).toMatchObject({ reason: 'not_found' });
    for (const bad of [
      { admission_id, tool_call: 0 },
      { message_id: 1, part: 0, tool_call: 0 },
    ])
      expect(await refusalOf('session.content', bad)).toMatchObject({
        reason: 'invalid_params',
        fields: [{ path: 'tool_call' }],
      });
  });

  test('answers nothing of another session', async () => {
    await aCompressedSession(false);
    const other = await core.create();

    const { error } = await peer.request('session.content', { session_id: other, message_id: 1 });
    const { admissionId } = core.admission(session_id, 'withdrawn');
    const foreign = await peer.request('session.content', { session_id: other, admission_id: admissionId });

    expect(error?.data).toMatchObject({ reason: 'not_found', what: 'message' });
    expect(foreign.error?.data).toMatchObject({ reason: 'not_found', what: 'admission' });
  });
});

describe('session.search', () => {
  beforeEach(() => aCompressedSession(false));

  const hitsOf = async (params: object): Promise<readonly Record<string, unknown>[]> =>
    (await peer.call('session.search', params))['hits'] as Record<string, unknown>[];

  test('finds what was compressed away, once, and says where it is', async () => {
    expect(await hitsOf({ query: 'Béta' })).toMatchObject([
      { session_id, title: 'Trip', transcript: session_id, role: 'user', kind: 'prompt', truncated: true },
    ]);
    expect(await hitsOf({ query: 'summary' })).toEqual([]);
  });

  test('pages, newest first', async () => {
    const first = await peer.call('session.search', { query: 'answer*', limit: 4 });
    const second = await peer.call('session.search', { query: 'answer*', limit: 4, cursor: first['next_cursor'] });

    const ids = [first, second].flatMap(({ hits }) => (hits as { message_id: number }[]).map((hit) => hit.message_id));
    expect(ids).toHaveLength(7);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
    expect(second).toMatchObject({ next_cursor: null, behind: false });
  });

  test('is of one session, by any id of its lineage', async () => {
    const other = await core.create();
    await core.turn(other, 'a', 'beta');
    const tip = (await core.state(session_id)).lineage.tipId;

    expect(await hitsOf({ query: 'beta', session_id: tip })).toMatchObject([{ session_id }]);
    expect(await hitsOf({ query: 'beta' })).toHaveLength(2);
  });

  test.each(['', '"', '*', 'NEAR(', "'; DROP TABLE words", '^("'])('takes every text as a query: %j', async (query) => {
    expect(await hitsOf({ query })).toEqual([]);
  });

  test.each([
    ['a cursor that is none', { cursor: 'x' }, 'cursor'],
    ['a query that is a book', { query: 'x'.repeat(1001) }, 'query'],
    ['more hits than a page holds', { limit: 101 }, 'limit'],
  ])('refuses %s', async (_what, params, path) => {
    const { error } = await peer.request('session.search', { query: 'beta', ...params });

    expect(error?.data).toMatchObject({ reason: 'invalid_params', fields: [{ path }] });
  });
});

describe('session.export', () => {
  const exported = async (params: object): Promise<string> => {
    const texts: string[] = [];
    for (let cursor: unknown = undefined; cursor !== null;) {
      const piece = await peer.call('session.export', { session_id, ...params, cursor });
      texts.push(piece['text'] as string);
      cursor = piece['next_cursor'];
    }
    return texts.join('');
  };

  test('as JSON is a document of everything, without secrets', async () => {
    await aCompressedSession(false);
    await peer.call('session.release', { session_id });
    await core.turn(session_id, 'secret', 'the password is hunter2!');

    const text = await exported({ format: 'json' });
    const document = JSON.parse(text) as { session: object; entries: { type: string; text?: string }[] };

    expect(document).toMatchObject({
      format: 'holdfast.session.v1',
      session: { session_id, title: 'Trip', compressions: 2, transcripts: 3 },
    });
    expect(document.entries.map(({ type }) => type)).toEqual((await forwards(100)).map(({ type }) => type));
    expect(document.entries.filter((entry) => entry.text?.startsWith('the password'))).toMatchObject([
      { text: 'the password is …' },
    ]);
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('principal');
  });

  test('as Markdown shows what was said, the borders and no secret, and is the standard', async () => {
    await aCompressedSession(true);
    await peer.call('session.release', { session_id });
    await core.turn(session_id, 'secret', 'the password is hunter2!');

    const text = await exported({});

    expect(text.startsWith('# Trip\n')).toBe(true);
    expect(text).toContain('SUMMARY 1');
    expect(text).toContain('the password is …');
    expect(text).not.toContain('hunter2');
    expect(text.match(/^## user \(cancelled, never sent\)/gm)).toHaveLength(1);
    expect(text.match(/^\*Compressed here/gm)).toHaveLength(2);
    expect(text.match(/^## answer/gm)).toHaveLength(8);
  });

  test.each(['json', 'markdown'])('of a long session comes in pieces that are one document (%s)', async (format) => {
    core = await MemoryGateway.started({ window: { contextTokens: 10_000_000 } });
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create();
    for (const name of ['a', 'b', 'c']) await core.turn(session_id, name, `${name}🦓`.repeat(200_000));
    const first = await peer.call('session.export', { session_id, format });
    await core.turn(session_id, 'later', 'too late');

    let text = first['text'] as string;
    for (let cursor = first['next_cursor']; cursor !== null;) {
      const piece = await peer.call('session.export', { session_id, format, cursor });
      text += piece['text'] as string;
      cursor = piece['next_cursor'];
    }

    expect(first['next_cursor']).not.toBeNull();
    for (const name of ['a', 'b', 'c']) expect(text).toContain(`${name}🦓`.repeat(200_000));
    expect(text).not.toContain('too late');
    if (format === 'json') expect((JSON.parse(text) as { entries: unknown[] }).entries).toHaveLength(6);
  });

  test('as JSON stays JSON where something that looks like a secret stands before a quotation mark', async () => {
    core = await MemoryGateway.started();
    const secrets = new Secrets();
    const exportSession = makeExportSession({ queries: core.queries, maskSecrets: (text) => secrets.mask(text) });
    peer = FakePeer.connect(rpcDependencies(core, { exportSession }));
    session_id = await core.create();
    await core.turn(session_id, 'a', '<a href="https://example.org/?token=abc123def">here</a>\\');

    const { entries } = JSON.parse(await exported({ format: 'json' })) as { entries: { text: string }[] };

    expect(entries[0]?.text).toBe('<a href="https://example.org/?token=[redacted]">here</a>\\');
  });

  test.each(['json', 'markdown'])('goes on with a message that was compressed away meanwhile (%s)', async (format) => {
    const model = new ScriptedModel(() => textAnswer('Fine.'));
    core = await MemoryGateway.started({
      model,
      policy: { inPlace: true, protectFirstN: 0 },
      window: { contextTokens: 10_000_000 },
    });
    peer = FakePeer.connect(rpcDependencies(core));
    session_id = await core.create();
    const long = Array.from({ length: 200_000 }, (_, n) => n).join(' ');
    for (const name of ['a', 'b', 'c', 'd']) await core.turn(session_id, name, name === 'a' ? long : name);
    const first = await peer.call('session.export', { session_id, format });
    await peer.call('session.compress', { session_id });
    expect((await core.texts(session_id)).join()).not.toContain('199999');

    let text = first['text'] as string;
    for (let cursor = first['next_cursor']; cursor !== null;) {
      const piece = await peer.call('session.export', { session_id, format, cursor });
      text += piece['text'] as string;
      cursor = piece['next_cursor'];
    }

    expect(text).toContain(long);
    if (format === 'json') expect((JSON.parse(text) as { entries: unknown[] }).entries).toHaveLength(8);
  });

  test.each([
    ['a format that is none', { format: 'pdf' }, 'format'],
    ['a cursor that is none', { cursor: 'x' }, 'cursor'],
  ])('refuses %s', async (_what, params, path) => {
    await aCompressedSession(false);

    expect(await refusalOf('session.export', params)).toMatchObject({ reason: 'invalid_params', fields: [{ path }] });
  });
});

describe('any id of a lineage', () => {
  test('names the session in every call, and the answer carries the session’s own id', async () => {
    await aCompressedSession(false);
    const { transcripts } = await core.queries.lineage(session_id);
    const middle = { session_id: transcripts[1]?.id };

    for (const [method, params] of [
      ['session.export', {}],
      ['session.update', { pinned: true }],
      ['session.history', {}],
    ] as const)
      expect(await peer.call(method, { ...middle, ...params })).toMatchObject({ session_id });
    expect(await peer.call('session.content', { ...middle, message_id: 1 })).toMatchObject({ offset: 0 });
    const fork = await peer.call('session.fork', { ...middle, message_id: 2, request_id: 'r' });
    expect(await peer.call('session.fork', { session_id, message_id: 2, request_id: 'r' })).toMatchObject({
      session_id: fork['session_id'],
      created: false,
    });
    expect(await peer.call('session.delete', middle)).toMatchObject({ session_id });
    expect(await peer.call('session.get', { session_id: fork['session_id'] })).toMatchObject({
      forked_from: { session_id, message_id: 2 },
    });
  });
});

describe('what nobody may read', () => {
  beforeEach(() => aCompressedSession(false));

  const reads: readonly (readonly [string, object])[] = [
    ['session.history', {}],
    ['session.content', { message_id: 1 }],
    ['session.lineage', {}],
    ['session.search', { query: 'beta' }],
    ['session.export', {}],
    ['session.get', {}],
    ['session.resume', {}],
    ['session.events', { after_seq: 0 }],
    ['prompt.list', {}],
    ['prompt.receipt', { input_id: 'alpha' }],
    ['session.fork', { message_id: 1 }],
    ['session.update', { title: 'Mine' }],
    ['session.delete', {}],
    ['prompt.submit', { input_id: 'new', text: 'Hello' }],
    ['prompt.edit', { input_id: 'withdrawn', text: 'Hello' }],
    ['prompt.move', { input_id: 'withdrawn', to: 'first' }],
  ];

  test.each(reads)('%s of a session that does not exist is not found', async (method, params) => {
    const { error } = await peer.request(method, { session_id: 'nowhere', ...params });

    expect(error).toMatchObject({ code: 1003, data: { reason: 'not_found', what: 'session' } });
  });

  test.each(reads)('%s of somebody else’s session is not found, loaded or not', async (method, params) => {
    const stranger = { principalId: 'stranger', scopes: ['read', 'write', 'admin'] } as const;
    const before = core.story(session_id);
    const fresh = await MemoryGateway.started({ store: core.store });

    for (const gateway of [core, fresh]) {
      const other = FakePeer.connect(rpcDependencies(gateway), stranger);
      for (const id of [session_id, (await gateway.state(session_id)).lineage.tipId]) {
        const { error } = await other.request(method, { session_id: id, ...params });
        expect(error).toMatchObject({ code: 1003, data: { reason: 'not_found', what: 'session' } });
      }
    }
    expect(core.story(session_id)).toEqual(before);
  });

  test('a search of all sessions finds nothing of somebody else', async () => {
    const stranger = FakePeer.connect(rpcDependencies(core), { principalId: 'stranger', scopes: ['read'] });

    expect(await stranger.call('session.search', { query: 'beta' })).toMatchObject({ hits: [], next_cursor: null });
  });

  const afterDeletion = reads.filter(
    ([method]) => !['session.delete', 'prompt.receipt', 'prompt.edit', 'prompt.move'].includes(method),
  );
  test.each(afterDeletion)('%s of a session that was deleted is not found', async (method, params) => {
    await deleted();

    expect(await refusalOf(method, params)).toMatchObject({ reason: 'not_found' });
  });

  test('a prompt that was never sent is gone with its session', async () => {
    const { admissionId } = core.admission(session_id, 'withdrawn');
    await deleted();

    expect(await refusalOf('session.content', { admission_id: admissionId })).toMatchObject({ reason: 'not_found' });
  });
});
