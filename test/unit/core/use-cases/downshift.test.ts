/* A session that moves to a smaller model is compressed by the one that can still read it. */
import { expect, test } from 'vitest';
import { FixedCatalog } from '../../../../src/adapters/outbound/memory/fixed-catalog.ts';
import { failedWith, textAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { Script } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { ModelRequest } from '../../../../src/core/ports/model-provider.ts';
import { MemoryGateway } from '../../../support/memory-gateway.ts';
import { aModel, textOf } from './pressure.ts';

const limits = (contextTokens: number) => ({ contextTokens, outputTokens: 100, source: 'configured' }) as const;
const catalog = new FixedCatalog(limits(1000), { 'large-model': limits(100_000) });

/** A session of about 1,800 tokens on a large model, of which the store says from now on that its model is a small one. */
async function moved(summary: (request: ModelRequest) => Script = () => textAnswer('SUMMARY')) {
  const before = await MemoryGateway.started({ model: aModel(), catalog });
  const sessionId = await before.create({ model: 'large-model' });
  for (const inputId of ['a', 'b', 'c']) await before.turn(sessionId, inputId, textOf(500, inputId));
  const state = before.store.load(sessionId);
  if (state === null) throw new Error('the session exists');
  const { store } = before;
  const load = store.load.bind(store);
  const change = (loaded: ReturnType<typeof load>): ReturnType<typeof load> =>
    loaded === null ? null : { ...loaded, profile: { ...loaded.profile, model: 'small-model' } };
  store.load = (id) => change(load(id));
  const gateway = await MemoryGateway.started({ store, model: aModel(summary), catalog });
  return { gateway, sessionId };
}

test('the old model summarises before the first request to the new one, which then fits (B26, B28)', async () => {
  const { gateway, sessionId } = await moved();

  const ended = await gateway.turn(sessionId, 'next', 'And now?');

  expect(ended.outcome).toBe('completed');
  expect(gateway.model.requests.map(({ purpose, target }) => `${purpose} ${target.model}`)).toEqual([
    'summary large-model',
    'turn small-model',
  ]);
  expect(gateway.log(sessionId)).toContainEqual(
    expect.objectContaining({ type: 'compression.started', trigger: 'downshift' }),
  );
  expect(JSON.stringify(gateway.requests('turn')[0]?.messages).length / 4).toBeLessThan(1000);
});

test('the new model is asked when the old one fails', async () => {
  const { gateway, sessionId } = await moved(({ target }) =>
    target.model === 'large-model' ? [failedWith('auth', 'No key.')] : textAnswer('SUMMARY'),
  );

  expect((await gateway.turn(sessionId, 'next', 'And now?')).outcome).toBe('completed');
  expect(gateway.requests('summary').map(({ target }) => target.model)).toEqual(['large-model', 'small-model']);
});
