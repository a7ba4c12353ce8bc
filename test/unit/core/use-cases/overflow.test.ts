import { describe, expect, test } from 'vitest';
import { failedWith, textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { ScriptedTools } from '../../../../src/adapters/outbound/memory/scripted-tools.ts';
import { failureOf } from '../../../../src/core/domain/model/failure.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { aToolCall } from '../../../support/builders.ts';
import { MemoryGateway, said } from '../../../support/memory-gateway.ts';
import { textOf, underPressure } from './pressure.ts';

const overflow: Script = [failedWith('context_overflow', 'maximum context length is 900 tokens')];
const summary = textAnswer('SUMMARY OF BEFORE');
/** So small that the gateway itself sees no need to compress. */
const small = textOf(20, 'small');

describe('when the model says that a request is too large', () => {
  test('the transcript is compressed and the request sent once more, in the same turn', async () => {
    const { gateway, sessionId } = await underPressure();
    gateway.model.enqueue(overflow, summary, textAnswer('Better.'));

    const ended = await gateway.turn(sessionId, 'next', small);

    expect(ended).toMatchObject({ outcome: 'completed', boundary: 'model', executionGeneration: 4 });
    expect(
      gateway
        .requests('turn')
        .slice(3)
        .map((request) => said(request).length),
    ).toEqual([7, 4]);
    expect((await gateway.texts(sessionId)).slice(-2)).toEqual([`user: ${small}`, 'assistant: Better.']);
    expect(gateway.story(sessionId).slice(-6)).toEqual([
      'turn.started',
      'message.appended',
      'compression.started',
      'compression.completed',
      'message.appended',
      'turn.settled',
    ]);
  });

  test('the prompt stays the user’s last word', async () => {
    const { gateway, sessionId } = await underPressure();
    gateway.model.enqueue(overflow, summary, textAnswer('Better.'));

    await gateway.turn(sessionId, 'next', small);

    expect(said(gateway.requests('turn').at(-1)).at(-1)).toBe(`user: ${small}`);
  });

  test('it is compressed once a step: a later step may overflow again', async () => {
    const { gateway, sessionId } = await underPressure({ policy: { protectFirstN: 0, protectLastN: 4 } });
    gateway.model.enqueue(overflow, summary, toolAnswer([aToolCall()]), overflow, summary, textAnswer('Done.'));

    const ended = await gateway.turn(sessionId, 'next', small);

    expect(ended.outcome).toBe('completed');
    expect(gateway.requests('summary')).toHaveLength(2);
    expect((await gateway.state(sessionId)).lineage.compressions).toBe(2);
  });
});

describe('when it is too large even then', () => {
  async function exhausted() {
    const world = await underPressure();
    world.gateway.model.enqueue(overflow, summary, overflow);
    const ended = await world.gateway.turn(world.sessionId, 'next', small);
    return { ...world, ended };
  }

  test('the turn fails and says what fills the window, and is not compressed a second time', async () => {
    const { gateway, ended } = await exhausted();

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason: 'context_exhausted', retryable: false } });
    expect(ended.failure?.message).toMatch(/about \d+ tokens .* window of 1000 tokens/);
    expect(gateway.requests('summary')).toHaveLength(1);
  });

  test('its prompt and its note leave the transcript', async () => {
    const { gateway, sessionId } = await exhausted();

    expect(
      (await gateway.texts(sessionId)).filter((text) => text.includes('small') || text.includes('failed')),
    ).toEqual([]);
  });

  test('the session is not bricked: the next prompt runs, without the one that did not fit', async () => {
    const { gateway, sessionId } = await exhausted();

    const next = await gateway.turn(sessionId, 'after', 'Still there?');

    expect(next.outcome).toBe('completed');
    expect(said(gateway.requests('turn').at(-1)).filter((text) => text.includes('small'))).toEqual([]);
  });

  test('what the prompt was is still to be seen with its admission', async () => {
    const { gateway, sessionId, ended } = await exhausted();

    const { admissions } = await gateway.queries.listAdmissions({ sessionId, include: 'all', limit: 10, after: null });

    expect(admissions.find(({ admission }) => admission.admissionId === ended.admissionId)?.content?.text).toBe(small);
  });
});

describe('when it is too large and nothing can be done', () => {
  test('because compression is off, the turn fails at once', async () => {
    const { gateway, sessionId } = await underPressure({ policy: { enabled: false } });
    gateway.model.enqueue(overflow);

    const ended = await gateway.turn(sessionId, 'next', small);

    expect(ended.failure?.reason).toBe('context_exhausted');
    expect(gateway.requests('summary')).toEqual([]);
  });

  test('because the summary fails, the turn fails with that reason and what was said before is as it was (B35)', async () => {
    const { gateway, sessionId } = await underPressure();
    const before = await gateway.transcript(sessionId);
    gateway.model.enqueue(overflow, [failedWith('unavailable', 'The model is down.')]);

    const ended = await gateway.turn(sessionId, 'next', small);

    expect(ended.failure?.reason).toBe('unavailable');
    expect(ended.failure?.message).toMatch(/does not fit the window of 1000 tokens .*The model is down\./);
    expect((await gateway.transcript(sessionId)).slice(0, before.length)).toEqual(before);
  });

  test('because the breaker is open, nothing is summarised in vain', async () => {
    const { gateway, sessionId } = await underPressure();
    gateway.model.enqueue(overflow, [failedWith('unavailable', 'The model is down.')]);
    await gateway.turn(sessionId, 'next', small);
    gateway.model.enqueue(overflow);

    const ended = await gateway.turn(sessionId, 'again', small);

    expect(ended.failure?.reason).toBe('compression_failed');
    expect(gateway.requests('summary')).toHaveLength(1);
  });
});

describe('a prompt that can not fit', () => {
  const huge = textOf(2000, 'huge');

  test('is never sent, and fails with the reason', async () => {
    const { gateway, sessionId } = await underPressure();

    const ended = await gateway.turn(sessionId, 'huge', huge);

    expect(ended).toMatchObject({ outcome: 'failed', boundary: 'none', failure: { reason: 'context_exhausted' } });
    expect(gateway.requests('turn')).toHaveLength(3);
  });

  test('leaves a session that goes on', async () => {
    const { gateway, sessionId } = await underPressure();
    await gateway.turn(sessionId, 'huge', huge);

    expect((await gateway.turn(sessionId, 'after', 'Still there?')).outcome).toBe('completed');
  });

  test('is left to the provider where nobody has said what the window is', async () => {
    const { gateway, sessionId } = await underPressure({
      window: { contextTokens: 1000, outputTokens: 100, source: 'default' },
    });

    expect((await gateway.turn(sessionId, 'huge', huge)).outcome).toBe('completed');
  });

  test('does not keep its followers from running', async () => {
    const { gateway, sessionId } = await underPressure();
    await gateway.submit(sessionId, 'huge', huge);
    await gateway.submit(sessionId, 'follower');

    expect((await gateway.ended(sessionId, 'follower')).outcome).toBe('completed');
  });
});

describe('when the window that is stated holds the request, but not the answer that was asked for', () => {
  const tooMuch = (contextTokens: number): Script => [
    {
      kind: 'failed',
      failure: failureOf('context_overflow', 'requested 128000 output tokens and at least 3073 input tokens'),
      learnt: { contextTokens },
      usage: null,
    },
  ];
  /** The operator asks for answers of up to 7,000 tokens of a model whose window nobody has stated. */
  const asked = {
    window: { contextTokens: 8192, outputTokens: null, source: 'default' },
    maxOutputTokens: 7000,
  } as const;

  test('a shorter answer is asked for, and nothing is compressed (C1, C2)', async () => {
    const { gateway, sessionId } = await underPressure(asked);
    gateway.model.enqueue(tooMuch(4096));

    const ended = await gateway.turn(sessionId, 'next', small);

    expect(ended.outcome).toBe('completed');
    const [before, after] = gateway.requests('turn').slice(-2);
    expect(before?.maxOutputTokens).toBe(7000);
    expect(after?.maxOutputTokens).toBeGreaterThan(2000);
    expect(after?.maxOutputTokens).toBeLessThan(4096 - 600);
    expect(gateway.requests('summary')).toEqual([]);
  });

  test('the transcript is compressed when that is refused too (C2)', async () => {
    const { gateway, sessionId } = await underPressure(asked);
    gateway.model.enqueue(tooMuch(4096), tooMuch(4096), summary, textAnswer('Better.'));

    const ended = await gateway.turn(sessionId, 'next', small);

    expect(ended.outcome).toBe('completed');
    expect(gateway.requests('summary')).toHaveLength(1);
  });

  test('no shorter answer is tried where the request alone is nearly too large (C2)', async () => {
    const { gateway, sessionId } = await underPressure(asked);
    gateway.model.enqueue(tooMuch(700), summary, textAnswer('Better.'));

    await gateway.turn(sessionId, 'next', small);

    expect(gateway.model.requests.slice(-3).map(({ purpose }) => purpose)).toEqual(['turn', 'summary', 'turn']);
  });
});

test('an overflow text that a prompt, an answer or a tool quotes is no overflow (B34)', async () => {
  const quote =
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. (context_length_exceeded)";
  const tools = new ScriptedTools({ read: () => ({ kind: 'answered', text: quote, isError: true }) });
  const gateway = await MemoryGateway.started({ tools });
  const sessionId = await gateway.create({ toolsets: ['scripted.read'] });
  gateway.model.enqueue(
    toolAnswer([aToolCall({ id: 'c1', name: 'scripted__read', arguments: '{}' })]),
    textAnswer(quote),
  );

  const ended = await gateway.turn(sessionId, 'quote', quote);

  expect(ended.outcome).toBe('completed');
  expect((await gateway.texts(sessionId)).filter((text) => text.endsWith(quote))).toHaveLength(3);
  expect(gateway.requests('summary')).toEqual([]);
  expect(gateway.story(sessionId)).not.toContain('window.learnt');
});
