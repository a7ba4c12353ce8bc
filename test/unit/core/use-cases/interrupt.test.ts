import { describe, expect, test } from 'vitest';
import { textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { aToolCall } from '../../../support/builders.ts';
import { MemoryGateway, quiet, said } from '../../../support/memory-gateway.ts';
import { requestFaults } from '../domain/transcript/request-faults.ts';
import { aModel, textOf, underPressure } from './pressure.ts';

describe('stopping a turn while the model answers', () => {
  async function answering() {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    gateway.model.enqueue([{ kind: 'text', text: 'I begin' }, { kind: 'gate', name: 'middle' }, { kind: 'hang' }]);
    await gateway.submit(sessionId, 'a');
    await gateway.submit(sessionId, 'b');
    await gateway.model.reached('middle');
    return { gateway, sessionId };
  }

  test('aborts the request and ends the turn as interrupted, with what was said', async () => {
    const { gateway, sessionId } = await answering();

    await gateway.interrupt(sessionId, 'somebody');
    const ended = await gateway.ended(sessionId, 'a');

    expect(ended).toMatchObject({ outcome: 'interrupted', failure: null, stopRequested: { by: 'somebody' } });
    expect((await gateway.transcript(sessionId))[1]).toMatchObject({ text: 'I begin', partial: true });
  });

  test('is durable when it is answered, before the turn has ended', async () => {
    const { gateway, sessionId } = await answering();

    await gateway.interrupt(sessionId);

    expect(gateway.story(sessionId)).toContain('turn.stop_requested');
  });

  test('lets its follower run at once, on a valid request', async () => {
    const { gateway, sessionId } = await answering();

    await gateway.interrupt(sessionId);
    const follower = await gateway.ended(sessionId, 'b');

    expect(follower.outcome).toBe('completed');
    expect(requestFaults(gateway.requests('turn')[1]?.messages ?? [])).toEqual([]);
  });

  test('twice is stopping once', async () => {
    const { gateway, sessionId } = await answering();
    const interrupt = { kind: 'interrupt', executionGeneration: 1, by: 'local' } as const;

    const both = await Promise.all([
      gateway.sessions.send(sessionId, interrupt),
      gateway.sessions.send(sessionId, interrupt),
    ]);
    await gateway.ended(sessionId, 'a');

    expect(both.map(({ kind }) => kind)).toEqual(['done', 'done']);
    expect(gateway.story(sessionId).filter((type) => type === 'turn.stop_requested')).toHaveLength(1);
  });

  test('late never hits the follower', async () => {
    const { gateway, sessionId } = await answering();
    await gateway.interrupt(sessionId);
    gateway.model.enqueue([{ kind: 'gate', name: 'follower' }, ...textAnswer('Fine.')]);
    await gateway.model.reached('follower');

    const late = await gateway.sessions.send(sessionId, { kind: 'interrupt', executionGeneration: 1, by: 'local' });
    gateway.model.release('follower');

    expect(late).toEqual({ kind: 'refused', refusal: { reason: 'turn_over', executionGeneration: 2 } });
    expect((await gateway.ended(sessionId, 'b')).outcome).toBe('completed');
  });

  test('says nothing more to those who listen', async () => {
    const { gateway, sessionId } = await answering();
    await gateway.interrupt(sessionId);
    const late: string[] = [];
    gateway.hub.listen(sessionId, {
      durable: () => undefined,
      live: ({ executionGeneration }) => executionGeneration === 1 && late.push('delta'),
    });

    await gateway.ended(sessionId, 'b');

    expect(late).toEqual([]);
  });
});

describe('stopping a turn while its transcript is compressed', () => {
  async function compressing() {
    const model = aModel(() => [{ kind: 'gate', name: 'summary' }, ...textAnswer('SUMMARY OF BEFORE')]);
    const { gateway, sessionId } = await underPressure({ model });
    const before = await gateway.transcript(sessionId);
    await gateway.submit(sessionId, 'trigger', textOf(200, 'trigger'));
    await gateway.submit(sessionId, 'follower', 'Short.');
    await model.reached('summary');
    return { gateway, sessionId, before, model };
  }

  test('ends it as interrupted and leaves the transcript as it was', async () => {
    const { gateway, sessionId, before } = await compressing();

    await gateway.interrupt(sessionId);
    const ended = await gateway.ended(sessionId, 'trigger');

    expect(ended).toMatchObject({ outcome: 'interrupted', boundary: 'none' });
    expect((await gateway.transcript(sessionId)).slice(0, before.length)).toEqual(before);
  });

  test('never sends its prompt', async () => {
    const { gateway, sessionId } = await compressing();

    await gateway.interrupt(sessionId);
    await gateway.ended(sessionId, 'follower');

    expect(said(gateway.requests('turn').at(-1)).filter((text) => text.includes('trigger'))).toEqual([]);
  });

  test('ends the compression as aborted, and is nobody’s failure', async () => {
    const { gateway, sessionId } = await compressing();

    await gateway.interrupt(sessionId);
    await gateway.ended(sessionId, 'trigger');

    expect(gateway.log(sessionId).find(({ type }) => type === 'compression.failed')).toMatchObject({
      failure: { reason: 'aborted' },
      opensBreaker: false,
    });
    expect((await gateway.state(sessionId)).lineage.breaker).toMatchObject({ failures: 0, openUntil: null });
  });

  test('just before the summary is committed: the stop wins and nothing is rotated', async () => {
    const { gateway, sessionId, model } = await compressing();

    const stopped = gateway.interrupt(sessionId);
    model.release('summary');
    await stopped;
    await gateway.ended(sessionId, 'trigger');

    expect((await gateway.state(sessionId)).lineage.compressions).toBe(0);
  });
});

test('a stop that comes when the answer is stored already is too late, and the turn stays completed', async () => {
  const gateway = await MemoryGateway.started();
  const sessionId = await gateway.create();
  await gateway.turn(sessionId, 'a');

  const late = await gateway.sessions.send(sessionId, { kind: 'interrupt', executionGeneration: 1, by: 'local' });

  expect(late).toEqual({ kind: 'refused', refusal: { reason: 'turn_over', executionGeneration: 1 } });
  expect(gateway.admission(sessionId, 'a').outcome).toBe('completed');
});

test('a stop between the answer and its storing is kept: the answer becomes a partial one', async () => {
  const gateway = await MemoryGateway.started({
    failpoints: {
      hit: async (name) => {
        if (name === 'model.after_answer') await gateway.interrupt(sessionId);
      },
    },
  });
  const sessionId = await gateway.create();

  const ended = await gateway.turn(sessionId, 'a');

  expect(ended.outcome).toBe('interrupted');
  expect((await gateway.transcript(sessionId))[1]).toMatchObject({ text: 'Fine.', partial: true });
});

test('a stop while tools are answered leaves no call without a result', async () => {
  const gateway = await MemoryGateway.started({
    failpoints: {
      hit: async (name) => {
        if (name === 'append.before_commit') void gateway.interrupt(sessionId);
      },
    },
  });
  const sessionId = await gateway.create();
  gateway.model.enqueue(toolAnswer([aToolCall()]));

  const ended = await gateway.turn(sessionId, 'a');
  await gateway.turn(sessionId, 'b');

  expect(ended.outcome).toBe('interrupted');
  expect(requestFaults(gateway.requests('turn').at(-1)?.messages ?? [])).toEqual([]);
});

test('a turn that was stopped before its request was sent sends none', async () => {
  const gateway = await MemoryGateway.started({
    failpoints: {
      hit: async (name) => {
        if (name === 'model.before_send') await gateway.interrupt(sessionId);
      },
    },
  });
  const sessionId = await gateway.create();

  const ended = await gateway.turn(sessionId, 'a');
  await quiet();

  expect(ended.outcome).toBe('interrupted');
  expect(gateway.model.requests).toEqual([]);
});
