import { beforeEach, describe, expect, test } from 'vitest';
import { FakePeer } from '../../support/fake-peer.ts';
import { MemoryGateway, quiet } from '../../support/memory-gateway.ts';
import { rpcDependencies } from '../../support/rpc-dependencies.ts';

/* JSON-RPC 2.0 to the letter, with the examples of https://www.jsonrpc.org/specification. */

let core: MemoryGateway;
let peer: FakePeer;

beforeEach(async () => {
  core = await MemoryGateway.started();
  peer = FakePeer.connect(rpcDependencies(core));
  peer.frames.length = 0;
});

/** What comes back for a frame; undefined when nothing does. */
async function answerTo(text: string): Promise<unknown> {
  peer.send(text);
  for (let turn = 0; turn < 5 && peer.frames.length === 0; turn += 1) await quiet();
  return peer.frames[0];
}

const invalidRequest = { jsonrpc: '2.0', id: null, error: { code: -32600, data: { reason: 'invalid_request' } } };

describe('a frame that is no request', () => {
  test.each([
    ['broken JSON', '{"jsonrpc": "2.0", "method": "ping, "params": "bar", "baz]'],
    ['broken JSON in a batch', '[{"jsonrpc": "2.0", "method": "ping", "id": "1"},{"jsonrpc": "2.0", "method"'],
    ['nothing', ''],
    ['a bare word', 'ping'],
    ['a number that JSON does not know', '{"jsonrpc":"2.0","id":NaN,"method":"ping"}'],
  ])('%s is a parse error with the id null', async (_, text) => {
    expect(await answerTo(text)).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, data: { reason: 'parse_error', retryable: false } },
    });
  });

  test.each([
    ['an empty batch', '[]'],
    ['a number', '1'],
    ['a string', '"ping"'],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['a method that is no string', '{"jsonrpc": "2.0", "method": 1, "params": "bar"}'],
    ['no version', '{"id": null, "method": "ping"}'],
    ['an answer', '{"jsonrpc": "2.0", "result": 7, "id": null}'],
  ])('%s is an invalid request with the id null', async (_, text) => {
    expect(await answerTo(text)).toMatchObject(invalidRequest);
  });

  test.each([
    ['the wrong version', '{"jsonrpc": "1.0", "method": "ping", "id": 7}'],
    ['parameters that are no object', '{"jsonrpc": "2.0", "method": "ping", "params": "bar", "id": 7}'],
    ['parameters that are null', '{"jsonrpc": "2.0", "method": "ping", "params": null, "id": 7}'],
    ['no method', '{"jsonrpc": "2.0", "id": 7}'],
  ])('%s is an invalid request that says which one', async (_, text) => {
    expect(await answerTo(text)).toMatchObject({ id: 7, error: { code: -32600 } });
  });

  test('nesting deeper than 64 is refused before it is parsed', async () => {
    const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(63)}${']'.repeat(63)}}}`;
    const fine = deep.replace('[[', '[').replace(']]', ']');

    expect(await answerTo(deep)).toMatchObject(invalidRequest);
    peer.frames.length = 0;
    expect(await answerTo(fine)).toMatchObject({ id: 1, error: { code: -32602 } });
  });

  test('two megabytes of brackets cost next to nothing', async () => {
    expect(await answerTo('['.repeat(2_000_000))).toMatchObject(invalidRequest);
  });

  test('hundreds of thousands of keys are refused before they are parsed', async () => {
    const keys = Array.from({ length: 200_000 }, (_, index) => `"k${index}":0`).join(',');

    expect(await answerTo(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{${keys}}}`)).toMatchObject(invalidRequest);
  });
});

describe('the id of a request', () => {
  // E23: requests with the id null got no answer, and string ids were refused.
  test.each(['0', '"0"', '""', '-1', '1.5', 'null', '1e30', '"ä"', '9007199254740991'])(
    '%s comes back with the same type and value',
    async (id) => {
      expect(await answerTo(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toMatchObject({
        id: JSON.parse(id) as unknown,
        result: { at: expect.any(String) as string },
      });
    },
  );

  test.each(['{}', '[]', 'true', 'false', '[1]', '1e400'])(
    '%s makes an invalid request with the id null',
    async (id) => {
      expect(await answerTo(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toMatchObject(invalidRequest);
    },
  );
});

describe('a notification', () => {
  // E22: a notification was answered with a broken frame, which killed the client's socket.
  test.each([
    ['that reads', 'session.list', {}],
    ['of a method that does not exist', 'no.such', {}],
    ['with wrong parameters', 'session.get', { nonsense: true }],
    ['about a session that does not exist', 'session.get', { session_id: 'nobody' }],
  ])('%s gets no answer', async (_, method, params) => {
    expect(await answerTo(JSON.stringify({ jsonrpc: '2.0', method, params }))).toBeUndefined();
  });

  test('that submits is carried out and not answered', async () => {
    const session_id = await core.create();
    const params = { session_id, input_id: 'a', text: 'Hello' };

    expect(await answerTo(JSON.stringify({ jsonrpc: '2.0', method: 'prompt.submit', params }))).toBeUndefined();

    expect((await core.ended(session_id, 'a')).outcome).toBe('completed');
  });

  // E25: a notification-only method with an id got `result: null`.
  test.each(['event', 'rpc.nothing', '__proto__', 'constructor', 'toString', '', 'session.create '])(
    'method %j called with an id is not found',
    async (method) => {
      expect(await answerTo(JSON.stringify({ jsonrpc: '2.0', id: 9, method, params: {} }))).toMatchObject({
        id: 9,
        error: { code: -32601, data: { reason: 'method_not_found' } },
      });
    },
  );
});

describe('a batch', () => {
  test('of nonsense gets one answer for each entry', async () => {
    expect(await answerTo('[1,2,[]]')).toMatchObject([invalidRequest, invalidRequest, invalidRequest]);
  });

  test('is answered in one frame, without its notifications', async () => {
    const answer = await answerTo(
      JSON.stringify([
        { jsonrpc: '2.0', method: 'ping', id: '1' },
        { jsonrpc: '2.0', method: 'ping' },
        { jsonrpc: '2.0', method: 'no.such', params: {}, id: '5' },
        { foo: 'boo' },
        { jsonrpc: '2.0', method: 'session.list', id: 9 },
      ]),
    );

    expect(answer).toMatchObject([
      { id: '1', result: {} },
      { id: '5', error: { code: -32601 } },
      { id: null, error: { code: -32600 } },
      { id: 9, result: { sessions: [] } },
    ]);
  });

  test('of nothing but notifications gets no answer', async () => {
    const ping = { jsonrpc: '2.0', method: 'ping' };

    expect(await answerTo(JSON.stringify([ping, ping]))).toBeUndefined();
  });

  test('of more than 50 calls is refused as a whole', async () => {
    const batch = Array.from({ length: 51 }, (_, id) => ({ jsonrpc: '2.0', method: 'ping', id }));

    expect(await answerTo(JSON.stringify(batch))).toMatchObject(invalidRequest);
  });

  test('of 50 calls is not', async () => {
    const batch = Array.from({ length: 50 }, (_, id) => ({ jsonrpc: '2.0', method: 'ping', id }));

    expect(await answerTo(JSON.stringify(batch))).toHaveLength(50);
  });
});

describe('parameters', () => {
  test('by position are not understood', async () => {
    expect(await answerTo('{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}')).toMatchObject({
      error: { code: -32602, data: { reason: 'invalid_params' } },
    });
  });

  test('that are left out count as none', async () => {
    expect(await answerTo('{"jsonrpc":"2.0","id":1,"method":"ping"}')).toMatchObject({ id: 1, result: {} });
  });

  test('with an unknown key are refused, and the nearest key is named', async () => {
    const params = { session_id: 's', input_id: 'a', txt: 'Hello' };

    expect(await answerTo(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'prompt.submit', params }))).toMatchObject({
      error: {
        code: -32602,
        data: {
          fields: expect.arrayContaining([{ path: 'txt', message: 'unknown key; did you mean text?' }]) as unknown,
        },
      },
    });
  });

  test.each(['__proto__', 'constructor'])('with the key %s do no harm', async (key) => {
    const frame = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"${key}":{"polluted":true}}}`;

    expect(await answerTo(frame)).toMatchObject({ error: { code: -32602 } });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('may have a prototype key beside the request without any effect', async () => {
    const frame = '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"params":{"session_id":"x"}}}';

    expect(await answerTo(frame)).toMatchObject({ id: 1, result: {} });
  });
});
