import { describe, expect, test } from 'vitest';
import { ScriptedModel, textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import { MemoryGateway, quiet } from '../../../support/memory-gateway.ts';

/** How often a session was loaded from the ledger from now on. */
function countLoads(gateway: MemoryGateway): () => number {
  let loads = 0;
  const again = (): void =>
    gateway.ledger.beforeNext('load', async () => {
      loads += 1;
      again();
    });
  again();
  return () => loads;
}

describe('the sessions of a process', () => {
  test('are loaded once and kept while they are in use', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    await quiet();
    const loads = countLoads(gateway);

    await gateway.state(sessionId);
    await gateway.turn(sessionId, 'a');
    await gateway.state(sessionId);

    expect(loads()).toBe(0);
  });

  test('are forgotten when they are idle and many, the least recently used first', async () => {
    const gateway = await MemoryGateway.started({ maxLoadedSessions: 2 });
    const [one, two] = [await gateway.create(), await gateway.create()];
    await quiet();
    await gateway.state(one);
    await gateway.create();
    await quiet();
    const loads = countLoads(gateway);

    await gateway.state(one);
    expect(loads()).toBe(0);
    await gateway.state(two);
    expect(loads()).toBe(1);
  });

  test('are what they were when they are loaded again', async () => {
    const gateway = await MemoryGateway.started({ maxLoadedSessions: 1 });
    const sessionId = await gateway.create();
    await gateway.turn(sessionId, 'a');
    const before = await gateway.state(sessionId);
    await quiet();

    await gateway.create();
    await quiet();

    expect(await gateway.state(sessionId)).toEqual(before);
    expect((await gateway.submit(sessionId, 'a')).duplicate).toBe(true);
  });

  test('are not forgotten while their turn runs, however many there are', async () => {
    const model = new ScriptedModel(() => [{ kind: 'gate', name: 'answer' }, ...textAnswer('Fine.')]);
    const gateway = await MemoryGateway.started({ maxLoadedSessions: 1, model });
    const sessionIds = [await gateway.create(), await gateway.create(), await gateway.create()];
    for (const sessionId of sessionIds) await gateway.submit(sessionId, 'a');
    await model.requested(3);
    const loads = countLoads(gateway);

    model.release('answer');
    for (const sessionId of sessionIds) await gateway.ended(sessionId, 'a');

    expect(loads()).toBe(0);
  });

  test('run their prompts in order even when only one fits', async () => {
    const gateway = await MemoryGateway.started({ maxLoadedSessions: 1 });
    const sessionIds = [await gateway.create(), await gateway.create(), await gateway.create()];
    const inputIds = ['a', 'b', 'c'];

    for (const inputId of inputIds) for (const sessionId of sessionIds) await gateway.submit(sessionId, inputId);
    for (const sessionId of sessionIds) await gateway.ended(sessionId, 'c');

    for (const sessionId of sessionIds) {
      expect((await gateway.texts(sessionId)).filter((text) => text.startsWith('user'))).toEqual(
        inputIds.map((inputId) => `user: prompt ${inputId}`),
      );
    }
    expect(gateway.fatal).toEqual([]);
  });

  test('are found by any id of their lineage, loaded or not (B4)', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    const next = await MemoryGateway.started({ store: gateway.store });

    expect(await next.sessions.idOf(sessionId)).toBe(sessionId);
    expect(await next.sessions.idOf('nowhere')).toBeNull();
  });

  test('tell of a commit first to the gateway itself and then to who listens, before anybody is answered', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    const order: string[] = [];
    gateway.hub.listen(sessionId, {
      live: () => undefined,
      durable: (events) => {
        order.push(...events.map(({ type }) => type));
        order.push(`logged ${String(gateway.logger.lines.length > 0)}`);
      },
    });

    await gateway.sessions.send(sessionId, { kind: 'hold', hold: { reason: 'operator', until: null, by: 'local' } });
    order.push('answered');

    expect(order).toEqual(['session.held', 'logged true', 'answered']);
  });
});

test('what the gateway logs of a turn says what happened and quotes nobody', async () => {
  const gateway = await MemoryGateway.started({ model: new ScriptedModel(() => textAnswer('a secret answer')) });
  const sessionId = await gateway.create({ systemPrompt: 'a secret instruction' });

  await gateway.turn(sessionId, 'a', 'a secret prompt');

  expect(gateway.logger.lines.map(({ message }) => message)).toEqual([
    'session.created',
    'admission.queued',
    'turn.started',
    'the context window of a model',
    'turn.settled',
  ]);
  expect(JSON.stringify(gateway.logger.lines)).not.toContain('secret');
});
