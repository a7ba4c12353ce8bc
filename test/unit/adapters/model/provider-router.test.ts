import { describe, expect, it } from 'vitest';
import { makeProviderRouter } from '../../../../src/adapters/outbound/model/provider-router.ts';
import type { ModelEvent, ModelProvider, ModelTarget } from '../../../../src/core/ports/model-provider.ts';

function named(text: string): ModelProvider {
  return {
    async *stream() {
      yield { kind: 'text', text };
    },
  };
}

async function answerTo(target: ModelTarget): Promise<readonly ModelEvent[]> {
  const router = makeProviderRouter([
    { provider: 'custom', baseUrl: 'http://one/v1', adapter: named('one') },
    { provider: 'custom', baseUrl: 'http://two/v1', adapter: named('two') },
    { provider: 'demo', baseUrl: null, adapter: named('demo') },
  ]);
  const request = { target, system: null, messages: [], tools: [], maxOutputTokens: null, purpose: 'turn' as const };
  const events: ModelEvent[] = [];
  for await (const event of router.stream(request, new AbortController().signal)) events.push(event);
  return events;
}

describe('a request goes', () => {
  it.each<[ModelTarget, string]>([
    [{ provider: 'demo', model: 'demo', baseUrl: null }, 'demo'],
    [{ provider: 'custom', model: 'm', baseUrl: null }, 'one'],
    [{ provider: 'custom', model: 'm', baseUrl: 'http://two/v1/' }, 'two'],
  ])('for %o to the adapter "%s"', async (target, expected) => {
    expect(await answerTo(target)).toEqual([{ kind: 'text', text: expected }]);
  });

  it.each<[string, ModelTarget, string]>([
    ['a provider', { provider: 'openai', model: 'm', baseUrl: null }, 'The provider "openai" is not configured'],
    ['an address', { provider: 'custom', model: 'm', baseUrl: 'http://three/v1' }, 'http://three/v1'],
  ])('nowhere for %s that is not configured', async (_, target, words) => {
    const [event, ...others] = await answerTo(target);

    expect(others).toEqual([]);
    expect(event).toMatchObject({ kind: 'failed', failure: { reason: 'configuration', retryable: false } });
    expect(JSON.stringify(event)).toContain(JSON.stringify(words).slice(1, -1));
  });
});
