import { result } from './answer.ts';
import type { RpcDependencies } from './dependencies.ts';
import type { HandlersOf } from './handler.ts';

/** The models that a session may have. */
export function makeModelHandlers({ listModels }: RpcDependencies): HandlersOf<'model'> {
  return {
    'model.list': async () => {
      const { providers, models } = listModels();
      return result({
        providers: providers.map(({ provider, kind, baseUrl, hasKey }) => ({
          provider,
          kind,
          base_url: baseUrl,
          has_key: hasKey,
        })),
        models: models.map(({ target: { provider, model }, limits, isDefault, fallbacks }) => ({
          provider,
          model,
          default: isDefault,
          context_tokens: limits.contextTokens,
          context_source: limits.source,
          output_tokens: limits.outputTokens,
          images: limits.takes?.images ?? null,
          files: limits.takes?.files ?? null,
          fallbacks: fallbacks.map((fallback) => ({ provider: fallback.provider, model: fallback.model })),
        })),
      });
    },
  };
}
