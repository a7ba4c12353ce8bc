import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gatewayFile } from '../../support/daemon.ts';
import type { GatewayFile, TestHome } from '../../support/daemon.ts';
import { readStore } from '../journey/store.ts';
import type { StoreRows } from '../journey/store.ts';
import { Stage, createSession, settled, submit } from '../stage.ts';
import { Wire, upgrade } from './wire.ts';

let end: () => Promise<void>;
let home: TestHome;
let gateway: GatewayFile;
let session: string;
let before: StoreRows;

beforeAll(async () => {
  const stage = await Stage.begin((atTheEnd) => (end = atTheEnd));
  home = stage.home({ gateway: { max_auth_failures_per_minute: 1000 } });
  await stage.start(home);
  const file = gatewayFile(home);
  if (file === null) throw new Error('there is no gateway.json');
  gateway = file;
  const client = await stage.connect(home);
  session = await createSession(client);
  await submit(client, session, 'known');
  await settled(client, session, 'known');
  client.close();
  before = readStore(home);
});

afterAll(() => end());

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const call = (method: string, params: unknown, id: unknown = 7): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const submitOf = (params: Readonly<Record<string, unknown>>): string =>
  call('prompt.submit', { session_id: session, input_id: 'bad', text: 'bad', ...params });

interface BadFrame {
  readonly name: string;
  readonly frame: () => string;
  readonly reason: string;
  readonly code: number;
  /** The id that the answer echoes. */
  readonly id?: unknown;
  /** The paths that `fields` names. */
  readonly fields?: readonly string[];
}

const parseError = { reason: 'parse_error', code: -32700, id: null };
const invalidRequest = { reason: 'invalid_request', code: -32600, id: null };
const invalidParams = { reason: 'invalid_params', code: -32602 };

const badFrames: readonly BadFrame[] = [
  { name: 'broken JSON', frame: () => '{"jsonrpc":"2.0","id":7,"method":', ...parseError },
  { name: 'an empty frame', frame: () => '', ...parseError },
  { name: 'two values', frame: () => '{} {}', ...parseError },
  {
    name: 'a control character in a string',
    frame: () => '{"jsonrpc":"2.0","id":7,"method":"pi\u0000ng"}',
    ...parseError,
  },
  { name: 'a number', frame: () => '7', ...invalidRequest },
  { name: 'null', frame: () => 'null', ...invalidRequest },
  { name: 'an empty batch', frame: () => '[]', ...invalidRequest },
  {
    name: 'a batch that is too long',
    frame: () => `[${Array.from({ length: 51 }, () => call('ping', {})).join()}]`,
    ...invalidRequest,
  },
  {
    name: 'another version of JSON-RPC',
    frame: () => '{"jsonrpc":"1.0","id":7,"method":"ping"}',
    ...invalidRequest,
    id: 7,
  },
  { name: 'no version of JSON-RPC', frame: () => '{"id":7,"method":"ping"}', ...invalidRequest, id: 7 },
  { name: 'an id that is an object', frame: () => call('ping', {}, { a: 1 }), ...invalidRequest },
  { name: 'an id that is true', frame: () => call('ping', {}, true), ...invalidRequest },
  {
    name: 'an id that is no finite number',
    frame: () => '{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
    ...invalidRequest,
  },
  { name: 'a method that is a number', frame: () => '{"jsonrpc":"2.0","id":7,"method":7}', ...invalidRequest, id: 7 },
  { name: 'params that are null', frame: () => call('ping', null), ...invalidRequest, id: 7 },
  {
    name: 'nesting that is too deep',
    frame: () => `{"jsonrpc":"2.0","id":7,"method":"ping","params":${nested(70)}}`,
    ...invalidRequest,
  },
  { name: 'nesting of a hundred thousand', frame: () => nested(100_000), ...invalidRequest },
  { name: 'brackets that never close', frame: () => '['.repeat(1_000_000), ...invalidRequest },
  {
    name: 'two hundred thousand values',
    frame: () => `[${Array.from({ length: 200_000 }, () => 1).join()}]`,
    ...invalidRequest,
  },

  { name: 'an unknown method', frame: () => call('session.destroy', {}), reason: 'method_not_found', code: -32601 },
  {
    name: "a method that is an object's own",
    frame: () => call('constructor', {}),
    reason: 'method_not_found',
    code: -32601,
  },
  { name: 'params as a list', frame: () => call('prompt.submit', [session, 'bad', 'bad']), ...invalidParams },
  { name: 'no params', frame: () => '{"jsonrpc":"2.0","id":7,"method":"prompt.submit"}', ...invalidParams },
  { name: 'an unknown parameter', frame: () => submitOf({ txet: 'bad' }), ...invalidParams, fields: ['txet'] },
  {
    name: 'a parameter called __proto__',
    frame: () => submitOf({}).replace('"text"', '"__proto__":{"admin":true},"text"'),
    ...invalidParams,
  },
  {
    name: 'wrong types',
    frame: () => submitOf({ session_id: 7, input_id: {}, text: ['bad'] }),
    ...invalidParams,
    fields: ['session_id', 'input_id', 'text'],
  },
  { name: 'an empty input id', frame: () => submitOf({ input_id: '' }), ...invalidParams, fields: ['input_id'] },
  {
    name: 'an input id that only a retry may have',
    frame: () => submitOf({ input_id: 'known~1' }),
    ...invalidParams,
    fields: ['input_id'],
  },
  {
    name: 'an input id with a line break',
    frame: () => submitOf({ input_id: 'a\nb' }),
    ...invalidParams,
    fields: ['input_id'],
  },
  {
    name: 'an input id that is too long',
    frame: () => submitOf({ input_id: 'a'.repeat(201) }),
    ...invalidParams,
    fields: ['input_id'],
  },
  { name: 'an empty text', frame: () => submitOf({ text: '' }), ...invalidParams, fields: ['text'] },
  { name: 'half a surrogate pair', frame: () => submitOf({ text: '\ud800' }), ...invalidParams, fields: ['text'] },
  { name: 'text and parts', frame: () => submitOf({ parts: [{ type: 'text', text: 'bad' }] }), ...invalidParams },
  {
    name: 'a part of an unknown type',
    frame: () => submitOf({ text: undefined, parts: [{ type: 'smell' }] }),
    ...invalidParams,
  },
  {
    name: 'an address that is not configured',
    frame: () => call('session.create', { base_url: 'http://evil.example/v1' }),
    ...invalidParams,
    fields: ['base_url'],
  },
  {
    name: 'a provider that is not configured',
    frame: () => call('session.create', { provider: 'evil', model: 'm' }),
    ...invalidParams,
    fields: ['provider'],
  },

  {
    name: 'an unknown session',
    frame: () => submitOf({ session_id: 'no-such-session' }),
    reason: 'not_found',
    code: 1003,
  },
  {
    name: 'SQL in a session id',
    frame: () => submitOf({ session_id: `' OR 1=1; DROP TABLE sessions; --` }),
    reason: 'not_found',
    code: 1003,
  },
  {
    name: 'an unknown admission',
    frame: () => call('prompt.receipt', { session_id: session, admission_id: 'none' }),
    reason: 'not_found',
    code: 1003,
  },
  {
    name: 'a prompt to cancel that has ended',
    frame: () => call('prompt.cancel', { session_id: session, input_id: 'known' }),
    reason: 'not_queued',
    code: 1204,
  },
  {
    name: 'a known id with other content',
    frame: () => submitOf({ input_id: 'known', text: 'other' }),
    reason: 'admission_conflict',
    code: 1101,
  },
  {
    name: 'a cursor of the future',
    frame: () => call('session.subscribe', { session_id: session, after_seq: 9999 }),
    reason: 'snapshot_required',
    code: 1106,
  },
];

describe('a frame that the gateway refuses', () => {
  it.each(badFrames)(
    'with $name gets $reason, and the socket lives',
    async ({ frame, reason, code, fields, ...more }) => {
      const wire = await Wire.connect(gateway);
      const reaction = await wire.exchange(frame());
      if (reaction.kind === 'closed') throw new Error(`closed with ${String(reaction.code)} ${reaction.reason}`);
      const answer = JSON.parse(reaction.text) as {
        id: unknown;
        error: { code: number; data: Record<string, unknown> };
      };
      expect(answer).toMatchObject({
        jsonrpc: '2.0',
        id: 'id' in more ? more.id : 7,
        error: { code, message: expect.any(String) as string, data: { reason, retryable: false } },
      });
      if (fields !== undefined) {
        const named = answer.error.data['fields'] as readonly { path: string }[];
        expect(named.map(({ path }) => path).sort()).toEqual([...fields].sort());
      }
      expectNoInsides(reaction.text);

      expect(await wire.exchange(call('ping', {}, 8))).toMatchObject({
        kind: 'frame',
        text: expect.stringContaining('"id":8') as string,
      });
      wire.close();
      expect(readStore(home)).toEqual(before);
    },
  );
});

describe('a frame that breaks the WebSocket protocol', () => {
  const fatal: readonly (readonly [name: string, frame: string | Buffer, binary: boolean, code: number])[] = [
    ['that is too large closes the socket with 1009', 'x'.repeat(4 * 1024 * 1024 + 1), false, 1009],
    ['that is no UTF-8 closes the socket with 1007', Buffer.from([0x22, 0xff, 0xfe, 0x22]), false, 1007],
    ['that is binary closes the socket with 1003', Buffer.from(call('ping', {})), true, 1003],
  ];

  it.each(fatal)('%s', async (_, frame, binary, code) => {
    const wire = await Wire.connect(gateway);
    const reaction = await wire.exchange(frame, { binary });
    expect(reaction).toMatchObject({ kind: 'closed', code });
    expectNoInsides(JSON.stringify(reaction));
    const other = await Wire.connect(gateway);
    expect(await other.exchange(call('ping', {}))).toMatchObject({ kind: 'frame' });
    other.close();
    expect(readStore(home)).toEqual(before);
  });
});

describe('a client that may not connect', () => {
  const bearer = (): Readonly<Record<string, string>> => ({ authorization: `Bearer ${gateway.token}` });
  const queried = (): string => `/rpc?token=${gateway.token}`;
  interface RefusedClient {
    readonly name: string;
    readonly status: number;
    readonly headers: () => Readonly<Record<string, string>>;
    readonly path?: () => string;
  }
  const refusals: readonly RefusedClient[] = [
    { name: 'without a token', status: 401, headers: () => ({}) },
    {
      name: 'with a wrong token',
      status: 401,
      headers: () => ({ authorization: `Bearer ${gateway.token.slice(1)}x` }),
    },
    {
      name: 'with a token that is far too long',
      status: 401,
      headers: () => ({ authorization: `Bearer ${'x'.repeat(4000)}` }),
    },
    { name: 'with its token in the address', status: 400, headers: () => ({}), path: queried },
    { name: 'with its token in the address as well', status: 400, headers: bearer, path: queried },
    { name: 'from a foreign page', status: 403, headers: () => ({ ...bearer(), origin: 'https://evil.example' }) },
    { name: 'from a page without an origin', status: 403, headers: () => ({ ...bearer(), origin: 'null' }) },
    {
      name: 'from a browser that hides its origin',
      status: 403,
      headers: () => ({ ...bearer(), 'sec-fetch-site': 'cross-site' }),
    },
    {
      name: 'under a name that was made to point here',
      status: 403,
      headers: () => ({ ...bearer(), host: 'rebind.example:7000' }),
    },
    {
      name: 'under a name that begins like ours',
      status: 403,
      headers: () => ({ ...bearer(), host: '127.0.0.1.evil.example' }),
    },
    {
      name: 'with another subprotocol',
      status: 400,
      headers: () => ({ ...bearer(), 'sec-websocket-protocol': 'graphql-ws' }),
    },
    { name: 'at another path', status: 404, headers: bearer, path: () => '/' },
  ];

  it.each(refusals)('$name gets $status before the upgrade, and nothing is told', async ({ status, headers, path }) => {
    const answer = await upgrade(gateway, headers(), path?.());
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { reason: expect.any(String) as string } });
    expect(answer.body).not.toContain(gateway.token);
    expectNoInsides(answer.body);
    expect((await upgrade(gateway, bearer())).status).toBe(101);
    expect(readStore(home)).toEqual(before);
  });
});

/** Nobody outside learns where in the program something happened. */
function expectNoInsides(text: string): void {
  expect(text).not.toMatch(/\bat \S+ \(|\bat file:|node_modules|\.[jt]s:\d+|\/dist\/|\/src\/|SQLITE_|ZodError/);
}
