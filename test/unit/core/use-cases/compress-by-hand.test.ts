/* A compression by hand is waited for, stopped like a turn, and keeps no prompt out. */
import { describe, expect, test } from 'vitest';
import { textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { ScriptedTools } from '../../../../src/adapters/outbound/memory/scripted-tools.ts';
import type { ByHandRequest } from '../../../../src/core/use-cases/compress-by-hand.ts';
import type { ToolDescriptor } from '../../../../src/core/ports/tool-host.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';
import { MemoryGateway, quiet } from '../../../support/memory-gateway.ts';
import { aModel, smallWindow, underPressure } from './pressure.ts';

const request = (sessionId: string, more: Partial<ByHandRequest> = {}): ByHandRequest => ({
  sessionId,
  principalId: 'local',
  requestId: 'request-1',
  focus: null,
  keepLast: 2,
  ...more,
});

/** Its list comes only when nobody wants it any more. */
class HangingTools extends ScriptedTools {
  asked = 0;

  override list(_selection: readonly string[], signal?: AbortSignal): Promise<readonly ToolDescriptor[]> {
    this.asked += 1;
    return new Promise((resolve) => {
      signal?.addEventListener('abort', () => {
        resolve([]);
      });
    });
  }
}

/** A compression by hand that waits for its summary. */
async function atItsSummary(options: MemoryGatewayOptions = {}) {
  const world = await underPressure(options);
  world.gateway.model.enqueue([{ kind: 'gate', name: 'summary' }, ...textAnswer('BY HAND')]);
  const outcome = world.gateway.gateway.byHand.compress(request(world.sessionId));
  await world.gateway.model.reached('summary');
  return { ...world, outcome };
}

describe.each([false, true])('a compression by hand (in place: %s)', (inPlace) => {
  const options = { policy: { inPlace } };

  test('replaces the older part by a summary, although nothing is due', async () => {
    const { gateway, sessionId } = await underPressure(options);

    const outcome = await gateway.gateway.byHand.compress(request(sessionId, { focus: 'the harbour' }));

    expect(outcome).toMatchObject({ kind: 'compressed', duplicate: false, record: { executionGeneration: 4 } });
    expect((await gateway.transcript(sessionId)).map(({ kind }) => kind)).toEqual([
      'prompt',
      'summary',
      'prompt',
      'answer',
    ]);
    expect(gateway.requests('summary')[0]?.messages[0]?.text).toContain('Pay special attention to: the harbour');
  });

  test('is done once, however often it is asked for, also by the next owner', async () => {
    const { gateway, sessionId } = await underPressure(options);
    const { byHand } = gateway.gateway;

    const both = await Promise.all([byHand.compress(request(sessionId)), byHand.compress(request(sessionId))]);
    const next = await MemoryGateway.started({ store: gateway.store, window: smallWindow, model: aModel() });
    const later = await next.gateway.byHand.compress(request(sessionId));

    expect(both).toMatchObject([
      { kind: 'compressed', duplicate: false },
      { kind: 'compressed', duplicate: true },
    ]);
    expect(later).toEqual(both[1]);
    expect(gateway.requests('summary')).toHaveLength(1);
  });

  test('takes prompts meanwhile, and they run after it on what it made (B4, B17, B19)', async () => {
    const { gateway, sessionId, outcome } = await atItsSummary(options);

    const receipt = await gateway.submit(sessionId, 'meanwhile', 'And then?');
    await quiet();
    expect(receipt.blockedBy).toContain('compressing');
    expect(gateway.admission(sessionId, 'meanwhile').status).toBe('queued');

    gateway.model.release('summary');
    expect((await outcome).kind).toBe('compressed');
    expect((await gateway.ended(sessionId, 'meanwhile')).outcome).toBe('completed');
    expect(JSON.stringify(gateway.requests('turn').at(-1)?.messages)).toContain('BY HAND');
  });

  test('is stopped by its generation: it fails, the transcript is what it was, and the queue goes on (B19)', async () => {
    const { gateway, sessionId, outcome } = await atItsSummary(options);
    const before = await gateway.transcript(sessionId);

    await gateway.sessions.send(sessionId, { kind: 'interrupt', executionGeneration: 4, by: 'local' });

    expect(await outcome).toMatchObject({ kind: 'failed', record: { failure: { reason: 'aborted' } } });
    expect(await gateway.transcript(sessionId)).toEqual(before);
    expect((await gateway.turn(sessionId, 'after', 'Go on.')).outcome).toBe('completed');
  });

  test('is ended by a graceful stop', async () => {
    const { gateway, sessionId, outcome } = await atItsSummary(options);

    await gateway.gateway.drain(0, new AbortController().signal);

    expect((await outcome).kind).toBe('failed');
    expect((await gateway.state(sessionId)).lineage.open).toBeNull();
  });

  test('that its owner left open is ended by the next one', async () => {
    const { gateway, sessionId } = await atItsSummary(options);
    const before = await gateway.transcript(sessionId);

    const next = await MemoryGateway.started({ store: gateway.store, window: smallWindow, model: aModel() });

    expect(await next.transcript(sessionId)).toEqual(before);
    expect(await next.gateway.byHand.compress(request(sessionId))).toMatchObject({
      kind: 'failed',
      duplicate: true,
      record: { failure: { reason: 'aborted' } },
    });
    expect((await next.turn(sessionId, 'after', 'Go on.')).outcome).toBe('completed');
  });
});

describe('nothing is started', () => {
  test('by one that looks for its tools when the gateway stops: it stops looking, and nothing waits for it', async () => {
    const tools = new HangingTools();
    const gateway = await MemoryGateway.started({ tools });
    const sessionId = await gateway.create({ toolsets: ['scripted.any'] });
    const outcome = gateway.gateway.byHand.compress(request(sessionId));
    await quiet();

    await gateway.gateway.drain(600_000, new AbortController().signal);

    expect(tools.asked).toBe(1);
    expect(await outcome).toMatchObject({ kind: 'refused', refusal: { reason: 'draining' } });
    expect(gateway.story(sessionId)).toEqual(['session.created']);
  });

  test('while a turn runs', async () => {
    const { gateway, sessionId } = await underPressure();
    gateway.model.enqueue([{ kind: 'gate', name: 'turn' }, ...textAnswer('Done.')]);
    await gateway.submit(sessionId, 'running');
    await gateway.model.reached('turn');

    const outcome = await gateway.gateway.byHand.compress(request(sessionId));

    expect(outcome).toMatchObject({ kind: 'refused', refusal: { reason: 'session_busy' } });
    gateway.model.release('turn');
  });

  test('where there is nothing to compress', async () => {
    const gateway = await MemoryGateway.started({ model: aModel(), window: smallWindow });
    const sessionId = await gateway.create();

    expect(await gateway.gateway.byHand.compress(request(sessionId))).toEqual({ kind: 'nothing_to_compress' });
    expect(gateway.story(sessionId)).toEqual(['session.created']);
  });

  test('under an id that stands for another request', async () => {
    const { gateway, sessionId } = await underPressure();
    const { byHand } = gateway.gateway;
    await byHand.compress(request(sessionId));

    expect(await byHand.compress(request(sessionId, { focus: 'other' }))).toEqual({ kind: 'request_conflict' });
  });

  test('by a preview, which shows the plans and their numbers', async () => {
    const { gateway, sessionId } = await underPressure();
    const story = gateway.story(sessionId);

    const preview = await gateway.gateway.byHand.preview({ sessionId, keepLast: 2 });

    expect(preview?.size.localTokens).toBe(624);
    expect(preview?.plans[0]).toMatchObject({ rung: 'wide' });
    expect([gateway.story(sessionId), gateway.requests('summary')]).toEqual([story, []]);
  });

  test('by a preview, which counts on the same window as the session’s own turns', async () => {
    const gateway = await MemoryGateway.started({ window: { contextTokens: 100_000, cappedOutputTokens: 40_000 } });
    const sessionId = await gateway.create();
    await gateway.turn(sessionId, 'a');

    const preview = await gateway.gateway.byHand.preview({ sessionId, keepLast: null });
    const snapshot = await gateway.gateway.readSnapshot({ sessionId, messageLimit: 1, before: null });

    expect(preview?.window).toMatchObject({ reserveTokens: 40_000, reserveSource: 'configured' });
    expect(snapshot?.context).toMatchObject({ ...preview?.window });
  });
});

describe('a compression by hand of a deleted session', () => {
  test('finds no session, and so does its preview', async () => {
    const { gateway, sessionId } = await underPressure();
    await gateway.sessions.send(sessionId, { kind: 'delete', by: 'local' });
    const { byHand } = gateway.gateway;

    const notFound = { kind: 'refused', refusal: { reason: 'not_found', what: 'session' } };
    expect(await byHand.compress(request(sessionId))).toEqual(notFound);
    expect(await byHand.preview(request(sessionId))).toBeNull();
  });
});
