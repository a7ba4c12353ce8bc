import { describe, expect, test } from 'vitest';
import { aCreateRequest, done, MemoryGateway, quiet } from '../../../support/memory-gateway.ts';

const request = aCreateRequest({ requestId: 'r-1', title: 'A title' });

describe('creating a session', () => {
  test('fills in the configured model and counts the system prompt', async () => {
    const gateway = await MemoryGateway.started();

    const sessionId = await gateway.create({ systemPrompt: 'Be kind.', cwd: '/tmp', toolsets: ['files'] });

    expect((await gateway.state(sessionId)).profile).toEqual({
      principalId: 'local',
      requestId: sessionId,
      requestDigest: expect.stringMatching(/^digest\(/) as string, // a matcher
      source: 'cli',
      title: null,
      provider: 'custom',
      model: 'test-model',
      baseUrl: null,
      cwd: '/tmp',
      systemPrompt: 'Be kind.',
      systemPromptTokens: 2,
      toolsets: ['files'],
      tools: ['files'],
      forkedFrom: null,
      startedAt: gateway.clock.now(),
    });
  });

  test('takes what the request names', async () => {
    const gateway = await MemoryGateway.started();

    const sessionId = await gateway.create({ provider: 'other', model: 'big', baseUrl: 'http://127.0.0.1:1/v1' });

    expect((await gateway.state(sessionId)).profile).toMatchObject({
      provider: 'other',
      model: 'big',
      baseUrl: 'http://127.0.0.1:1/v1',
    });
  });

  test('without a request id makes a new one every time', async () => {
    const gateway = await MemoryGateway.started();

    expect(await gateway.create()).not.toBe(await gateway.create());
  });
});

describe('the same request id', () => {
  test('with the same parameters gives the same session', async () => {
    const gateway = await MemoryGateway.started();
    const first = done(await gateway.createSession(request));

    expect(first.created).toBe(true);
    expect(done(await gateway.createSession(request))).toEqual({ sessionId: first.sessionId, created: false });
  });

  test('with other parameters is a conflict that names the session, and makes none', async () => {
    const gateway = await MemoryGateway.started();
    const { sessionId } = done(await gateway.createSession(request));

    expect(await gateway.createSession({ ...request, title: 'Another title' })).toEqual({
      kind: 'refused',
      refusal: { reason: 'request_conflict', sessionId },
    });
    expect(gateway.store.states()).toHaveLength(1);
  });

  test('of another principal is another session', async () => {
    const gateway = await MemoryGateway.started();
    const { sessionId } = done(await gateway.createSession(request));

    expect(done(await gateway.createSession({ ...request, principalId: 'somebody' })).sessionId).not.toBe(sessionId);
  });

  test('ten times at once makes one session, and all are told of it', async () => {
    const gateway = await MemoryGateway.started();

    const all = (await Promise.all(Array.from({ length: 10 }, () => gateway.createSession(request)))).map(done);
    await quiet();

    expect(new Set(all.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    expect(gateway.store.states()).toHaveLength(1);
  });

  test('at once with other parameters is one session and one conflict', async () => {
    const gateway = await MemoryGateway.started();

    const [one, other] = await Promise.all([
      gateway.createSession(request),
      gateway.createSession({ ...request, title: 'Another title' }),
    ]);

    const { sessionId } = done(one);
    expect(other).toEqual({ kind: 'refused', refusal: { reason: 'request_conflict', sessionId } });
  });

  test('after a restart still gives the same session', async () => {
    const first = await MemoryGateway.started();
    const { sessionId } = done(await first.createSession(request));

    const next = await MemoryGateway.started({ store: first.store });

    expect(done(await next.createSession(request))).toEqual({ sessionId, created: false });
  });
});

describe('submitting a prompt', () => {
  test('from ten sockets at once with one id runs it once, and all hold the same receipt', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();

    const receipts = await Promise.all(Array.from({ length: 10 }, () => gateway.submit(sessionId, 'a')));
    await gateway.ended(sessionId, 'a');

    expect(new Set(receipts.map(({ admission }) => admission.admissionId)).size).toBe(1);
    expect(receipts.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(gateway.model.requests).toHaveLength(1);
  });

  test('again after a restart gives the receipt of the first one, with its end', async () => {
    const first = await MemoryGateway.started();
    const sessionId = await first.create();
    const { admissionId } = await first.turn(sessionId, 'a');
    const next = await MemoryGateway.started({ store: first.store });

    const again = await next.submit(sessionId, 'a');

    expect(again).toMatchObject({ duplicate: true, admission: { admissionId, outcome: 'completed' } });
    expect(next.model.requests).toEqual([]);
  });

  test('with the same id and other parts is a conflict', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    await gateway.submit(sessionId, 'a', 'Hello');

    const other = await gateway.trySubmit(sessionId, 'a', {
      text: 'Hello',
      parts: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }],
    });

    expect(other).toMatchObject({ kind: 'refused', refusal: { reason: 'admission_conflict' } });
  });

  test('to a session that does not exist is refused', async () => {
    const gateway = await MemoryGateway.started();

    expect(await gateway.trySubmit('nowhere', 'a', { text: 'Hello', parts: null })).toEqual({
      kind: 'refused',
      refusal: { reason: 'not_found', what: 'session' },
    });
  });
});
