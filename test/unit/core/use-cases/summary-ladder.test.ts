/* A summary request that doesn't fit is made smaller, a few times and no more. */
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';
import { failedWith, textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { LiveEvent } from '../../../../src/core/ports/event-hub.ts';
import type { ModelRequest } from '../../../../src/core/ports/model-provider.ts';
import { aModel, textOf, underPressure } from './pressure.ts';

const trigger = textOf(180, 'trigger');
const tooLong = [failedWith('context_overflow', 'The prompt is too long.')];
const sizeOf = (request: ModelRequest): number => request.messages[0]?.text.length ?? 0;

describe('a summary request that does not fit', () => {
  test('is made smaller until it does (B16, B31, C35)', async () => {
    const { gateway, sessionId } = await underPressure({
      model: aModel((request) => (sizeOf(request) > 800 ? tooLong : textAnswer('SUMMARY OF BEFORE'))),
    });

    const ended = await gateway.turn(sessionId, 'next', trigger);

    const sizes = gateway.requests('summary').map(sizeOf);
    expect(ended.outcome).toBe('completed');
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes).toEqual([...new Set(sizes)].sort((a, b) => b - a));
    expect((await gateway.state(sessionId)).lineage.compressions).toBe(1);
  });

  test('is tried three times at most, and the transcript stays what it was (B16)', async () => {
    const { gateway, sessionId } = await underPressure({ model: aModel(() => tooLong) });
    const before = await gateway.transcript(sessionId);

    await gateway.turn(sessionId, 'next', trigger);

    expect(gateway.requests('summary')).toHaveLength(3);
    expect((await gateway.transcript(sessionId)).slice(0, before.length)).toEqual(before);
    expect(gateway.log(sessionId)).toContainEqual(
      expect.objectContaining({
        type: 'compression.failed',
        failure: expect.objectContaining({ reason: 'context_overflow' }) as object,
      }),
    );
  });

  test('keeps the newest turns and says that older ones are missing', async () => {
    const { gateway, sessionId } = await underPressure({
      model: aModel((request) => (sizeOf(request) > 900 ? tooLong : textAnswer('SUMMARY OF BEFORE'))),
      policy: { protectFirstN: 0, protectLastN: 0 },
    });

    await gateway.turn(sessionId, 'next', trigger);

    const last = gateway.requests('summary').at(-1)?.messages[0]?.text ?? '';
    expect(last).toMatch(/older messages left out/);
    expect(last).toContain('third');
    expect(last).not.toContain('first');
  });
});

test('a summary request that hangs ends at its deadline, and the prompt runs (B16, B20)', async () => {
  const clock = new FakeClock();
  const { gateway, sessionId } = await underPressure({
    model: aModel(() => [{ kind: 'hang' }]),
    clock,
    summaryDeadlineMs: 30_000,
  });
  await gateway.submit(sessionId, 'next', trigger);
  await gateway.happened(sessionId, ({ type }) => type === 'compression.started');
  await gateway.model.requested(4);

  await clock.advance(30_000);

  expect((await gateway.ended(sessionId, 'next')).outcome).toBe('completed');
  expect(gateway.log(sessionId)).toContainEqual(
    expect.objectContaining({
      type: 'compression.failed',
      failure: expect.objectContaining({
        reason: 'stalled',
        message: 'There is no summary. custom/test-model: The summary was not there after 30 seconds.',
      }) as object,
    }),
  );
});

test('what is asked is told while it is asked', async () => {
  const { gateway, sessionId } = await underPressure({
    model: aModel((request) => (sizeOf(request) > 800 ? tooLong : textAnswer('SUMMARY OF BEFORE'))),
  });
  const heard: LiveEvent[] = [];
  gateway.hub.listen(sessionId, { durable: () => undefined, live: (event) => heard.push(event) });

  await gateway.turn(sessionId, 'next', trigger);

  const progress = heard.filter(({ type }) => type === 'compression.progress');
  expect(progress[0]).toMatchObject({ form: 'whole', model: 'test-model', request: 1 });
  expect(progress[1]).toMatchObject({ form: 'recent', request: 2 });
});

test('a secret that the gateway holds is not in a summary request', async () => {
  const { gateway, sessionId } = await underPressure({ mask: (text) => text.replaceAll('sk-hidden', '[redacted]') });
  await gateway.turn(sessionId, 'key', 'The key is sk-hidden.');

  await gateway.turn(sessionId, 'next', trigger);
  await gateway.turn(sessionId, 'more', textOf(700, 'more'));

  const asked = JSON.stringify(gateway.requests('summary').map(({ messages }) => messages));
  expect(asked).toContain('[redacted]');
  expect(asked).not.toContain('sk-hidden');
});
