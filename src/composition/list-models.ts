import type { ModelListing } from '../adapters/inbound/rpc/dependencies.ts';
import type { Configuration } from '../config/configuration.ts';
import { defaultTarget } from '../config/model-endpoints.ts';
import { fallbacksOf, namedModels } from '../config/model-settings.ts';
import type { ModelCatalog } from '../core/ports/model-catalog.ts';

/** What is configured, with the limits as they are known at this moment. */
export function makeListModels(
  { config, endpoints }: Pick<Configuration, 'config' | 'endpoints'>,
  catalog: ModelCatalog,
): () => ModelListing {
  const standard = defaultTarget(config);
  return () => ({
    providers: endpoints.map(({ provider, kind, baseUrl, apiKey }) => ({
      provider,
      kind,
      baseUrl,
      hasKey: apiKey !== null,
    })),
    models: namedModels(config).map((target) => ({
      target,
      limits: catalog.limits(target),
      isDefault: target.provider === standard.provider && target.model === standard.model,
      fallbacks: fallbacksOf(config, target.provider, target.model),
    })),
  });
}
