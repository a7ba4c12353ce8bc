import { describe, expect, test } from 'vitest';
import { failedWith, textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { StorageError } from '../../../../src/core/ports/ledger.ts';
import type { ModelProvider } from '../../../../src/core/ports/model-provider.ts';
import { aToolCall } from '../../../support/builders.ts';
import { MemoryGateway, said } from '../../../support/memory-gateway.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';
import { requestFaults } from '../domain/transcript/request-faults.ts';

const usage = { inputTokens: 20, outputTokens: 5, totalTokens: 25 };

async function aSession(options: MemoryGatewayOptions = {}) {
  const gateway = await MemoryGateway.started(options);
  return { gateway, sessionId: await gateway.create() };
}

describe('a turn that is answered', () => {
  test('ends as completed with its answer in the transcript', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue(textAnswer('Hello!', usage));

    const ended = await gateway.turn(sessionId, 'a', 'Hello?');

    expect(ended).toMatchObject({ outcome: 'completed', failure: null, step: 1 });
    expect(await gateway.texts(sessionId)).toEqual(['user: Hello?', 'assistant: Hello!']);
  });

  test('sends its prompt only after the boundary is durable', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue([{ kind: 'gate', name: 'sent' }, ...textAnswer('Hello!')]);
    await gateway.submit(sessionId, 'a');
    await gateway.model.reached('sent');

    expect(gateway.admission(sessionId, 'a')).toMatchObject({ status: 'started', boundary: 'model' });
    expect(await gateway.texts(sessionId)).toEqual(['user: prompt a']);
  });

  test('believes the size that the provider reports', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue(textAnswer('Hello!', usage));

    await gateway.turn(sessionId, 'a');

    const state = await gateway.state(sessionId);
    expect(state.usageAnchor?.tokens).toBe(20 + (state.messages.at(-1)?.tokens ?? NaN));
  });

  test('counts no thinking that came with the answer: it does not go out again', async () => {
    const { gateway, sessionId } = await aSession({ window: { contextTokens: 1000, outputTokens: 100 } });
    gateway.model.enqueue(textAnswer('Hi.', { inputTokens: 20, outputTokens: 900, totalTokens: 920 }));
    await gateway.turn(sessionId, 'a');

    expect(await gateway.turn(sessionId, 'b', 'word '.repeat(400))).toMatchObject({ outcome: 'completed' });
    expect(gateway.requests('summary')).toEqual([]);
  });

  test('believes no report of more than the window that it was answered in', async () => {
    const { gateway, sessionId } = await aSession({ window: { contextTokens: 1000, outputTokens: 100 } });
    gateway.model.enqueue(textAnswer('Hi.', { inputTokens: 1001, outputTokens: 5, totalTokens: 1006 }));
    await gateway.turn(sessionId, 'a');

    expect((await gateway.state(sessionId)).usageAnchor).toBeNull();
    expect(await gateway.turn(sessionId, 'b')).toMatchObject({ outcome: 'completed' });
  });

  test.each([
    ['nothing', null],
    ['zero', { inputTokens: 0, outputTokens: 0, totalTokens: 0 }],
    ['nothing of the input', { inputTokens: null, outputTokens: 5, totalTokens: 5 }],
  ])('estimates the size where the provider reports %s', async (_what, report) => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue(textAnswer('Hello!', report));

    await gateway.turn(sessionId, 'a');

    expect((await gateway.state(sessionId)).usageAnchor).toBeNull();
  });

  test('carries the session’s system prompt, and the configured cap of the output', async () => {
    const { gateway } = await aSession({ maxOutputTokens: 77 });
    const sessionId = await gateway.create({ systemPrompt: 'Be kind.' });

    await gateway.turn(sessionId, 'a');

    expect(gateway.requests('turn')[0]).toMatchObject({ system: 'Be kind.', maxOutputTokens: 77, purpose: 'turn' });
  });
});

describe('an answer to less than was sent', () => {
  test('stands, makes no later count smaller, and is told to the operator (C16, C17)', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue(textAnswer('Fine.', { inputTokens: 2051, outputTokens: 5, totalTokens: 2056 }));

    const ended = await gateway.turn(sessionId, 'a', 'word '.repeat(10_000));

    expect(ended.outcome).toBe('completed');
    const snapshot = await gateway.gateway.readSnapshot({ sessionId, messageLimit: 1, before: null });
    expect(snapshot?.context.tokens).toBeGreaterThan(12_000);
    expect(gateway.logger.lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: expect.stringContaining('read much less than was sent') as string,
        fields: expect.objectContaining({ readTokens: 2051, model: 'test-model' }) as object,
      }),
    );
  });
});

describe('a turn that fails', () => {
  test('because its answer can’t be stored in one piece ends without it, and the queue goes on', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue([{ kind: 'gate', name: 'answer' }, ...textAnswer('too much')]);
    await gateway.submit(sessionId, 'a');
    await gateway.model.reached('answer');
    gateway.ledger.failNext('append', new StorageError('too_large', 'too large'));

    gateway.model.release('answer');
    const ended = await gateway.ended(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason: 'internal', retryable: false } });
    expect((await gateway.turn(sessionId, 'b')).outcome).toBe('completed');
    expect(gateway.fatal).toEqual([]);
  });

  test.each<[string, Script, string]>([
    ['with what the provider says', [failedWith('bad_request', 'No such model.')], 'bad_request'],
    ['when the connection drops before anything was said', [], 'cut_off'],
    ['when the answer is empty', textAnswer(''), 'empty_reply'],
    ['when the answer is white space', textAnswer(' \n'), 'empty_reply'],
    [
      'when the model only thinks',
      [
        { kind: 'reasoning', text: 'Hm.' },
        { kind: 'finished', finishReason: 'stop', usage: null, parts: null },
      ],
      'empty_reply',
    ],
  ])('%s leaves a note, and its follower runs on a valid request', async (_what, script, reason) => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue(script);

    const ended = await gateway.turn(sessionId, 'a');
    await gateway.turn(sessionId, 'b');

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason } });
    expect(said(gateway.requests('turn').at(-1))).toEqual([
      'user: prompt a',
      'assistant: [This turn failed before it was answered.]',
      'user: prompt b',
    ]);
  });

  test('after it has said something keeps that, marked as partial', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue([{ kind: 'text', text: 'Half of' }]);

    const ended = await gateway.turn(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason: 'cut_off' } });
    expect((await gateway.transcript(sessionId)).at(-1)).toMatchObject({
      text: 'Half of',
      partial: true,
      kind: 'answer',
    });
  });

  test('is not sent again with the next prompt', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue([failedWith('bad_request', 'No.')]);
    await gateway.turn(sessionId, 'a');
    await gateway.turn(sessionId, 'b');
    await gateway.turn(sessionId, 'c');

    expect(said(gateway.requests('turn').at(-1)).filter((text) => text === 'user: prompt a')).toHaveLength(1);
  });

  test('because the adapter is broken says so, and the process goes on', async () => {
    const provider: ModelProvider = {
      stream: () => {
        throw new TypeError('undefined is not a function');
      },
    };
    const { gateway, sessionId } = await aSession({ provider });

    const ended = await gateway.turn(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason: 'internal' } });
    expect(gateway.fatal).toEqual([]);
  });

  test('because the stored prompt is not the one that was accepted sends nothing', async () => {
    const { gateway, sessionId } = await aSession({ digest: { of: () => 'another digest' } });

    const ended = await gateway.turn(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'failed', boundary: 'none', failure: { reason: 'payload_corrupt' } });
    expect(gateway.model.requests).toEqual([]);
    expect(await gateway.texts(sessionId)).toEqual([]);
  });
});

describe('a model that asks for tools', () => {
  const call = aToolCall({ id: 'call-1', name: 'rm' });

  test('gets an answer for a tool that does not exist, and may go on', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue(toolAnswer([call], usage), textAnswer('Then not.', usage));

    const ended = await gateway.turn(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'completed', step: 2 });
    expect((await gateway.texts(sessionId)).slice(2)).toEqual([
      'tool: There is no tool called "rm". There are none.',
      'assistant: Then not.',
    ]);
  });

  test('is answered for every call of a batch, and each request is valid', async () => {
    const { gateway, sessionId } = await aSession();
    const calls = ['a', 'b', 'c'].map((id) => aToolCall({ id, arguments: 'no json' }));
    gateway.model.enqueue(toolAnswer(calls), toolAnswer(calls), textAnswer('Done.'));

    await gateway.turn(sessionId, 'a');

    expect(gateway.requests('turn').map(({ messages }) => requestFaults(messages))).toEqual([[], [], []]);
    expect(said(gateway.requests('turn')[2])).toHaveLength(9);
  });

  test('has its calls stored before it is asked again', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue(toolAnswer([call]), [{ kind: 'gate', name: 'second' }, ...textAnswer('Done.')]);
    await gateway.submit(sessionId, 'a');
    await gateway.model.reached('second');

    expect((await gateway.transcript(sessionId)).map(({ kind }) => kind)).toEqual(['prompt', 'answer', 'tool']);
  });

  test('is stopped after the most steps of a turn, with every call answered', async () => {
    const { gateway, sessionId } = await aSession({ maxSteps: 3 });
    gateway.model.enqueue(...Array.from({ length: 3 }, (_, n) => toolAnswer([aToolCall({ id: `call-${String(n)}` })])));

    const ended = await gateway.turn(sessionId, 'a');
    await gateway.turn(sessionId, 'b');

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason: 'max_steps' } });
    expect(gateway.requests('turn')).toHaveLength(4);
    expect(requestFaults(gateway.requests('turn').at(-1)?.messages ?? [])).toEqual([]);
  });

  test('tells of each message which step it belongs to, as its deltas do', async () => {
    const { gateway, sessionId } = await aSession();
    const heard: (readonly [string, number])[] = [];
    gateway.hub.listen(sessionId, {
      live: (event) => {
        if ('step' in event) heard.push(['delta', event.step]);
      },
      durable: (events) => {
        for (const event of events) if (event.type === 'message.appended') heard.push([event.message.kind, event.step]);
      },
    });
    gateway.model.enqueue([{ kind: 'text', text: 'Let me look.' }, ...toolAnswer([call])], textAnswer('Done.'));

    await gateway.turn(sessionId, 'a');

    expect(heard).toEqual([
      ['prompt', 1],
      ['delta', 1],
      ['answer', 1],
      ['tool', 1],
      ['delta', 2],
      ['answer', 2],
    ]);
  });

  test('costs what all its requests cost', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue(toolAnswer([call], usage), textAnswer('Done.', usage));

    await gateway.turn(sessionId, 'a');

    expect(gateway.log(sessionId).at(-1)).toMatchObject({
      type: 'turn.settled',
      usage: { inputTokens: 40, outputTokens: 10, totalTokens: 50 },
    });
  });
});

test('what a model says is told as it says it, with offsets in bytes', async () => {
  const { gateway, sessionId } = await aSession();
  const deltas: unknown[] = [];
  gateway.hub.listen(sessionId, {
    durable: () => undefined,
    live: (event) => {
      if ('step' in event) deltas.push([event.type, event.step, event.offset, event.text]);
    },
  });
  gateway.model.enqueue([
    { kind: 'reasoning', text: 'Hm' },
    { kind: 'text', text: 'Grü' },
    { kind: 'reasoning', text: '…' },
    { kind: 'text', text: 'ße' },
    { kind: 'finished', finishReason: 'stop', usage: null, parts: null },
  ]);

  await gateway.turn(sessionId, 'a');

  expect(deltas).toEqual([
    ['reasoning.delta', 1, 0, 'Hm'],
    ['message.delta', 1, 0, 'Grü'],
    ['reasoning.delta', 1, 2, '…'],
    ['message.delta', 1, 4, 'ße'],
  ]);
});

test('prompts run once each, in the order of their receipts, with no client there', async () => {
  const { gateway, sessionId } = await aSession();
  const ids = Array.from({ length: 20 }, (_, n) => `p${String(n)}`);

  await Promise.all(ids.map((id) => gateway.submit(sessionId, id)));
  await gateway.ended(sessionId, 'p19');

  expect(gateway.requests('turn').map((request) => said(request).at(-1))).toEqual(
    ids.map((id) => `user: prompt ${id}`),
  );
});

test('two sessions run at the same time, and neither waits for the other', async () => {
  const { gateway, sessionId } = await aSession();
  const other = await gateway.create();
  gateway.model.enqueue([{ kind: 'hang' }]);

  await gateway.submit(sessionId, 'a');
  await gateway.model.requested(1);

  expect((await gateway.turn(other, 'b')).outcome).toBe('completed');
});
