import { describe, expect, test } from 'vitest';
import { failedWith, textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { aToolCall } from '../../../support/builders.ts';
import { MemoryGateway, quiet, said } from '../../../support/memory-gateway.ts';
import { requestFaults } from '../domain/transcript/request-faults.ts';
import { smallWindow, textOf, underPressure } from './pressure.ts';

/** Asks for a tool whose name fills the context by about twice so many tokens: it comes back in the tool's answer. */
const bulkyStep = (tokens: number, id: string) => toolAnswer([aToolCall({ id, name: textOf(tokens, 'tool') })]);

describe('a turn that grows while it runs', () => {
  test('compresses between its steps, and keeps its prompt word for word', async () => {
    const { gateway, sessionId } = await underPressure({ policy: { protectFirstN: 0, protectLastN: 1 } });
    gateway.model.enqueue(bulkyStep(100, 'call-1'), textAnswer('SUMMARY OF BEFORE'), textAnswer('Done.'));

    const ended = await gateway.turn(sessionId, 'next', 'Go on.');

    expect(ended).toMatchObject({ outcome: 'completed', step: 2 });
    const last = said(gateway.requests('turn').at(-1));
    expect(last.filter((text) => text.includes('SUMMARY OF BEFORE'))).toHaveLength(1);
    expect(last.filter((text) => text === 'user: Go on.')).toHaveLength(1);
    expect(requestFaults(gateway.requests('turn').at(-1)?.messages ?? [])).toEqual([]);
  });

  test('cuts into itself when it alone is too big, and its newest results are kept (B7)', async () => {
    const gateway = await MemoryGateway.started({ window: smallWindow, policy: { protectFirstN: 0, protectLastN: 1 } });
    const sessionId = await gateway.create();
    gateway.model.enqueue(
      bulkyStep(120, 'call-1'),
      bulkyStep(120, 'call-2'),
      bulkyStep(120, 'call-3'),
      bulkyStep(120, 'call-4'),
      textAnswer('SUMMARY OF BEFORE'),
      textAnswer('Done.'),
    );

    const ended = await gateway.turn(sessionId, 'a', 'Work.');

    expect(ended.outcome).toBe('completed');
    const last = said(gateway.requests('turn').at(-1));
    expect(last[0]).toContain('SUMMARY OF BEFORE');
    expect(last[1]).toBe('user: Work.');
    expect(last.at(-1)).toMatch(/^tool: There is no tool called/);
    expect(requestFaults(gateway.requests('turn').at(-1)?.messages ?? [])).toEqual([]);
  });

  test('fails with the reason when it can not go on, and keeps what it did (C28)', async () => {
    const { gateway, sessionId } = await underPressure();
    gateway.model.enqueue(bulkyStep(400, 'call-1'));

    const ended = await gateway.turn(sessionId, 'next', 'Go on.');

    expect(ended).toMatchObject({ outcome: 'failed', failure: { reason: 'context_exhausted' } });
    expect((await gateway.transcript(sessionId)).slice(-4).map(({ kind }) => kind)).toEqual([
      'prompt',
      'answer',
      'tool',
      'note',
    ]);
  });

  test('fails at once while the breaker is open, without another summary', async () => {
    const { gateway, sessionId } = await underPressure();
    gateway.model.enqueue([failedWith('unavailable', 'The model is down.')]);
    await gateway.turn(sessionId, 'breaks', textOf(180, 'breaks'));
    gateway.model.enqueue(bulkyStep(200, 'call-1'));

    const ended = await gateway.turn(sessionId, 'next', 'Go on.');

    expect(ended.failure?.reason).toBe('compression_failed');
    expect(gateway.requests('summary')).toHaveLength(1);
  });

  test('is not bricked by that: the next prompt compresses it and runs', async () => {
    const { gateway, sessionId } = await underPressure();
    gateway.model.enqueue(bulkyStep(400, 'call-1'));
    await gateway.turn(sessionId, 'next', 'Go on.');
    await gateway.clock.advance(60_000);

    const after = await gateway.turn(sessionId, 'after', 'Still there?');

    expect(after.outcome).toBe('completed');
    expect(requestFaults(gateway.requests('turn').at(-1)?.messages ?? [])).toEqual([]);
  });
});

describe('what happens between two steps of a turn’s beginning', () => {
  test('a hold that comes while the prompt is read keeps the turn from starting', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    gateway.ledger.beforeNext('readPayload', () =>
      gateway.sessions.send(sessionId, { kind: 'hold', hold: { reason: 'operator', until: null, by: 'local' } }),
    );

    await gateway.submit(sessionId, 'a');
    await quiet();

    expect(gateway.admission(sessionId, 'a').status).toBe('queued');
    expect(gateway.model.requests).toEqual([]);
    await gateway.sessions.send(sessionId, { kind: 'release', by: 'local', until: null });
    expect((await gateway.ended(sessionId, 'a')).outcome).toBe('completed');
  });

  test('a cancellation that comes while the prompt is read lets the next one run', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    gateway.ledger.beforeNext('readPayload', async () => {
      const key = { inputId: 'a', principalId: 'local' };
      await gateway.sessions.send(sessionId, { kind: 'cancel', key, revision: null, known: undefined });
    });

    await gateway.submit(sessionId, 'a');
    await gateway.submit(sessionId, 'b');
    await gateway.ended(sessionId, 'b');

    expect(gateway.admission(sessionId, 'a').outcome).toBe('cancelled');
    expect(gateway.requests('turn').map((request) => said(request))).toEqual([['user: prompt b']]);
  });

  test('a stop that comes right after the compression keeps the prompt from being sent', async () => {
    let stop: Promise<void> | undefined;
    const { gateway, sessionId } = await underPressure({
      failpoints: {
        hit: (name) => {
          if (name === 'rotate.after_publish') stop ??= gateway.interrupt(sessionId);
        },
      },
    });

    const ended = await gateway.turn(sessionId, 'next', textOf(200, 'next'));
    await stop;

    expect(ended).toMatchObject({ outcome: 'interrupted', boundary: 'none' });
    expect(gateway.requests('turn')).toHaveLength(3);
    expect((await gateway.state(sessionId)).lineage.compressions).toBe(1);
  });

  test('a stop while an overflow is compressed ends the turn as interrupted', async () => {
    const { gateway, sessionId } = await underPressure();
    gateway.model.enqueue([failedWith('context_overflow', 'Too long.')], [{ kind: 'gate', name: 'summary' }]);
    await gateway.submit(sessionId, 'next', 'Go on.');
    await gateway.model.reached('summary');

    await gateway.interrupt(sessionId);

    expect((await gateway.ended(sessionId, 'next')).outcome).toBe('interrupted');
    expect((await gateway.texts(sessionId)).slice(-2)).toEqual([
      'user: Go on.',
      'assistant: [This turn was stopped before it was answered.]',
    ]);
  });
});
