import { beforeEach, describe, expect, test } from 'vitest';
import { ScriptedModel } from '../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Sessions } from '../../../src/core/use-cases/sessions.ts';
import { FakePeer } from '../../support/fake-peer.ts';
import { MemoryGateway, quiet } from '../../support/memory-gateway.ts';
import { rpcDependencies } from '../../support/rpc-dependencies.ts';

let core: MemoryGateway;

beforeEach(async () => {
  core = await MemoryGateway.started({ model: new ScriptedModel(() => [{ kind: 'hang' }]) });
});

describe('the calls of one connection', () => {
  /** Sessions whose ids are resolved only when the test lets them. */
  function withSlowIds(): { sessions: Sessions; resolve: (id: string) => void; sent: string[] } {
    const waiting: { id: string; go: () => void }[] = [];
    const sent: string[] = [];
    return {
      sent,
      resolve: (id) => {
        for (const call of waiting) if (call.id === id) call.go();
      },
      sessions: {
        state: (id) => core.sessions.state(id),
        send: (id, command) => {
          sent.push(`${command.kind} ${'inputId' in command ? command.inputId : ''}`.trim());
          return core.sessions.send(id, command);
        },
        idOf: (id) => new Promise((resolve) => waiting.push({ id, go: () => resolve(core.sessions.idOf(id)) })),
      },
    };
  }

  test('are decided in the order in which they arrived, however long their ids take', async () => {
    const [one, two] = [await core.create(), await core.create()];
    const slow = withSlowIds();
    const deps = rpcDependencies(core, { sessions: slow.sessions });
    const peer = FakePeer.connect({
      ...deps,
      submitPrompt: (input) => {
        slow.sent.push(`submit ${input.inputId}`);
        return core.submitPrompt(input);
      },
    });

    void peer.request('prompt.submit', { session_id: one, input_id: 'a', text: 'Hello' });
    void peer.request('prompt.submit', { session_id: two, input_id: 'b', text: 'Hello' });
    void peer.request('session.hold', { session_id: one });
    await quiet();
    slow.resolve(two);
    await quiet();
    const before = [...slow.sent];
    slow.resolve(one);
    await quiet();

    expect(before).toEqual([]);
    expect(slow.sent).toEqual(['submit a', 'submit b', 'hold']);
  });

  test('that only read may overtake', async () => {
    const one = await core.create();
    const slow = withSlowIds();
    const peer = FakePeer.connect(rpcDependencies(core, { sessions: slow.sessions }));

    void peer.request('prompt.submit', { session_id: one, input_id: 'a', text: 'Hello' });

    expect(await peer.call('session.list')).toMatchObject({ sessions: [{ queued: 0 }] });
  });

  test('go on in order behind one that fails', async () => {
    const session_id = await core.create();
    const deps = rpcDependencies(core);
    const idOf = (id: string): Promise<string | null> =>
      id === 'broken' ? Promise.reject(new Error('secret detail')) : deps.sessions.idOf(id);
    const sessions: Sessions = {
      idOf,
      state: (id) => core.sessions.state(id),
      send: (id, command) => core.sessions.send(id, command),
    };
    const peer = FakePeer.connect({ ...deps, sessions });

    const broken = peer.request('prompt.submit', { session_id: 'broken', input_id: 'a', text: 'Hello' });
    const next = peer.request('prompt.submit', { session_id, input_id: 'b', text: 'Hello' });

    expect((await broken).error?.data.reason).toBe('internal');
    expect((await next).result).toMatchObject({ input_id: 'b' });
  });

  test('in a batch keep their order too', async () => {
    const session_id = await core.create();
    const peer = FakePeer.connect(rpcDependencies(core));
    const batch = Array.from({ length: 20 }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'prompt.submit',
      params: { session_id, input_id: `input ${id}`, text: 'Hello' },
    }));

    peer.send(JSON.stringify(batch));
    const answers = await peer.batch();

    expect(answers.map(({ result }) => result?.['sequence'])).toEqual(batch.map(({ id }) => id + 1));
  });

  // F80: the socket went away between the call and its commit.
  test('are carried out also when the client goes away', async () => {
    const session_id = await core.create();
    const peer = FakePeer.connect(rpcDependencies(core));

    void peer.request('prompt.submit', { session_id, input_id: 'a', text: 'Hello' });
    peer.hangUp();
    await core.happened(session_id, ({ type }) => type === 'admission.queued');

    expect(core.admission(session_id, 'a').inputId).toBe('a');
  });
});

describe('a fault', () => {
  test('answers with an incident that the log explains, and with nothing of the error', async () => {
    const deps = rpcDependencies(core);
    const failing = { ...core.queries, listSessions: () => Promise.reject(new Error('secret detail')) };
    const peer = FakePeer.connect({
      ...deps,
      queries: Object.assign(Object.create(core.queries) as typeof core.queries, failing),
    });

    const { error } = await peer.request('session.list');

    expect(error).toMatchObject({ code: -32603, data: { reason: 'internal', incident: expect.any(String) as string } });
    expect(JSON.stringify(error)).not.toMatch(/secret|Error|\.ts/);
    expect(core.logger.lines).toContainEqual({
      level: 'error',
      message: 'a call failed unexpectedly',
      fields: expect.objectContaining({ incident: error?.data['incident'], method: 'session.list' }) as object,
    });
  });

  test('is also a refusal that no client can cause', async () => {
    const session_id = await core.create();
    const deps = rpcDependencies(core);
    const send = (): Promise<never> => Promise.resolve({ kind: 'refused', refusal: { reason: 'tip_moved' } } as never); // no client's command gets it
    const sessions: Sessions = { send, state: (id) => core.sessions.state(id), idOf: (id) => core.sessions.idOf(id) };
    const peer = FakePeer.connect({ ...deps, sessions });

    const { error } = await peer.request('session.hold', { session_id });

    expect(error).toMatchObject({ code: -32603, data: { reason: 'internal', incident: expect.any(String) as string } });
  });
});

describe('the limits of a connection', () => {
  test('calls beyond those in flight are refused, and again welcome when one has ended', async () => {
    const session_id = await core.create();
    const deps = rpcDependencies(core);
    const peer = FakePeer.connect({ ...deps, limits: { ...deps.limits, max_in_flight: 2 } });
    await core.submit(session_id, 'a');

    const waits = [1, 2].map(() => peer.request('prompt.wait', { session_id, input_id: 'a', timeout_ms: 1_000 }));
    const refused = await peer.request('ping');
    await core.clock.advance(1_000);
    await Promise.all(waits);

    expect(refused.error).toMatchObject({ code: 1302, data: { reason: 'overloaded', limit: 2, retry_after_ms: 100 } });
    expect((await peer.request('ping')).error).toBeUndefined();
  });

  test('calls that come too fast are refused, and say how long to wait', async () => {
    const deps = rpcDependencies(core);
    const peer = FakePeer.connect({ ...deps, limits: { ...deps.limits, calls_per_second: 10, call_burst: 3 } });
    for (let call = 0; call < 3; call += 1) await peer.call('ping');

    const refused = await peer.request('ping');
    await core.clock.advance(100);

    expect(refused.error).toMatchObject({
      code: 1303,
      data: { reason: 'rate_limited', retryable: true, retry_after_ms: 100 },
    });
    await peer.call('ping');
  });

  test('a flood of nonsense ends the connection', async () => {
    const deps = rpcDependencies(core);
    const peer = FakePeer.connect({ ...deps, limits: { ...deps.limits, call_burst: 5 } });

    for (let frame = 0; frame < 6; frame += 1) peer.send('nonsense');
    await quiet();

    expect(peer.closes).toMatchObject([{ code: 1008 }]);
  });
});
