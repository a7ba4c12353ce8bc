import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../src/adapters/outbound/memory/fake-clock.ts';
import { textAnswer } from '../../../src/adapters/outbound/memory/scripted-model.ts';
import { makeLayeredCatalog } from '../../../src/adapters/outbound/catalog/layered-catalog.ts';
import { makeCheckAddress } from '../../../src/composition/check-new-session.ts';
import { makeListModels } from '../../../src/composition/list-models.ts';
import { environmentOf } from '../../../src/config/environment.ts';
import { modelEndpoints } from '../../../src/config/model-endpoints.ts';
import { configSchema } from '../../../src/config/schema.ts';
import type { ModelInputs } from '../../../src/core/ports/model-catalog.ts';
import { FakePeer } from '../../support/fake-peer.ts';
import { MemoryGateway } from '../../support/memory-gateway.ts';
import { rpcDependencies } from '../../support/rpc-dependencies.ts';

const silent = { warn: () => undefined };

describe('model.list', () => {
  test('answers the providers and the models that are configured, with their limits and without any key', async () => {
    const config = configSchema.parse({
      model: { provider: 'claude', default: 'sonnet', context_length: 90_000 },
      providers: {
        claude: { kind: 'anthropic', api_key_env: 'CLAUDE_KEY', fallbacks: [{ provider: 'local', model: 'small' }] },
        local: {
          kind: 'openai-compatible',
          base_url: 'http://127.0.0.1:8000/v1/',
          models: { small: { context_length: 8000, max_output_tokens: 1000, images: false } },
        },
      },
    });
    const environment = environmentOf({ CLAUDE_KEY: 'sk-secret' });
    const endpoints = modelEndpoints(config, environment, () => '');
    const catalog = makeLayeredCatalog({
      configured: [
        { provider: 'claude', model: 'sonnet', baseUrl: null, contextTokens: 90_000, outputTokens: null },
        { provider: 'local', model: 'small', baseUrl: null, contextTokens: 8000, outputTokens: 1000, images: false },
      ],
      cacheFile: null,
      clock: new FakeClock(),
      logger: silent,
    });
    const listModels = makeListModels({ config, endpoints }, catalog);
    const core = await MemoryGateway.started();
    const peer = FakePeer.connect(rpcDependencies(core, { listModels }));

    const listed = await peer.call('model.list', {});

    expect(listed).toEqual({
      providers: [
        { provider: 'claude', kind: 'anthropic', base_url: 'https://api.anthropic.com/v1', has_key: true },
        { provider: 'local', kind: 'openai-compatible', base_url: 'http://127.0.0.1:8000/v1', has_key: false },
        { provider: 'demo', kind: 'demo', base_url: null, has_key: false },
      ],
      models: [
        {
          provider: 'claude',
          model: 'sonnet',
          default: true,
          context_tokens: 90_000,
          context_source: 'configured',
          output_tokens: null,
          images: null,
          files: null,
          fallbacks: [{ provider: 'local', model: 'small' }],
        },
        {
          provider: 'local',
          model: 'small',
          default: false,
          context_tokens: 8000,
          context_source: 'configured',
          output_tokens: 1000,
          images: false,
          files: null,
          fallbacks: [],
        },
      ],
    });
    expect(JSON.stringify(listed)).not.toContain('sk-secret');
  });
});

describe('session.update of the model', () => {
  const config = configSchema.parse({
    model: { provider: 'custom', default: 'small', base_url: 'http://127.0.0.1:8000/v1' },
    auxiliary: { compression: { provider: 'custom', base_url: 'http://127.0.0.1:9000/v1' } },
    providers: { second: { kind: 'openai-compatible', base_url: 'http://127.0.0.1:7000/v1' } },
  });
  const checkAddress = makeCheckAddress({ endpoints: modelEndpoints(config, environmentOf({}), () => '') });

  async function served(profile: object) {
    const core = await MemoryGateway.started();
    const session_id = await core.create({ provider: 'second', model: 'q', ...profile });
    const peer = FakePeer.connect(rpcDependencies(core, { checkAddress }));
    const update = async (params: object): Promise<unknown> => {
      const { error } = await peer.request('session.update', { session_id, ...params });
      if (error !== undefined) return error.data;
      const { provider, model, base_url, revision } = await peer.call('session.get', { session_id });
      return { provider, model, base_url, revision };
    };
    return { update };
  }

  test('keeps the conversation with its provider when only the model is named', async () => {
    const { update } = await served({});

    expect(await update({ model: 'q2' })).toMatchObject({ provider: 'second', model: 'q2', base_url: null });
  });

  test('takes an address that is configured for the provider, however it is written, and no other', async () => {
    const { update } = await served({});
    const to = (base_url: string) => update({ provider: 'custom', model: 'small', base_url });

    expect(await to('http://127.0.0.1:9000/v1/')).toMatchObject({ base_url: 'http://127.0.0.1:9000/v1' });
    expect(await to('http://127.0.0.1:7000/v1')).toMatchObject({
      reason: 'invalid_params',
      fields: [{ path: 'base_url' }],
    });
    expect(await update({ provider: 'nobody', model: 'small' })).toMatchObject({ fields: [{ path: 'provider' }] });
  });

  test('to the address at which it is asked anyway is no change', async () => {
    const { update } = await served({});

    expect(await update({ provider: 'second', model: 'q', base_url: 'http://127.0.0.1:7000/v1' })).toEqual({
      provider: 'second',
      model: 'q',
      base_url: null,
      revision: 1,
    });
  });
});

describe('a prompt with an image', () => {
  const image = { type: 'image', media_type: 'image/png', data: 'aGk=' };
  const parts = [{ type: 'text', text: 'See' }, image];

  async function served(takes: ModelInputs) {
    const core = await MemoryGateway.started({ window: { takes } });
    return { core, peer: FakePeer.connect(rpcDependencies(core)), session_id: await core.create() };
  }

  test('is refused part by part where the model takes none, and nothing is queued', async () => {
    const { peer, session_id } = await served({ images: false });

    const { error } = await peer.request('prompt.submit', { session_id, input_id: 'a', parts });

    expect(error).toMatchObject({
      code: -32602,
      data: {
        reason: 'invalid_params',
        retryable: false,
        fields: [{ path: 'parts.1', message: 'is of a kind that the model of this session does not take' }],
      },
    });
    const { error: unknown } = await peer.request('prompt.receipt', { session_id, input_id: 'a' });
    expect(unknown).toMatchObject({ data: { reason: 'not_found' } });
  });

  test('is taken where nobody says that the model takes none, and counts in the next request', async () => {
    const { core, peer, session_id } = await served({ files: false });
    core.model.enqueue(textAnswer('A picture.'));

    await peer.call('prompt.submit', { session_id, input_id: 'a', parts });
    await core.ended(session_id, 'a');

    expect(core.requests('turn')[0]?.messages.at(-1)).toMatchObject({
      parts: [
        { type: 'text', text: 'See' },
        { type: 'image', mediaType: 'image/png', data: 'aGk=' },
      ],
    });
    expect((await core.transcript(session_id))[0]?.tokens).toBeGreaterThan(1000);
  });

  test('of another kind than every vendor takes is refused by its shape', async () => {
    const { peer, session_id } = await served({});

    const { error } = await peer.request('prompt.submit', {
      session_id,
      input_id: 'a',
      parts: [{ ...image, media_type: 'image/x-raw' }],
    });

    expect(error).toMatchObject({ data: { reason: 'invalid_params' } });
  });
});
