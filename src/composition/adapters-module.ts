import { join } from 'node:path';
import { ContainerModule } from 'inversify';
import { makeLayeredCatalog } from '../adapters/outbound/catalog/layered-catalog.ts';
import type { ConfiguredLimit } from '../adapters/outbound/catalog/layered-catalog.ts';
import { MemoryEventHub } from '../adapters/outbound/memory/memory-event-hub.ts';
import { makeDemoModel } from '../adapters/outbound/model/demo-model.ts';
import { makeProvider } from '../adapters/outbound/model/make-provider.ts';
import type { ModelOptions } from '../adapters/outbound/model/wire.ts';
import { makeProviderRouter } from '../adapters/outbound/model/provider-router.ts';
import type { ProviderRoute } from '../adapters/outbound/model/provider-router.ts';
import { makeFailpoints } from '../adapters/outbound/system/env-failpoints.ts';
import { McpToolHost } from '../adapters/outbound/tools/mcp-tool-host.ts';
import { Sha256Digest } from '../adapters/outbound/system/sha256-digest.ts';
import { SystemClock } from '../adapters/outbound/system/system-clock.ts';
import { UuidIds } from '../adapters/outbound/system/uuid-ids.ts';
import { WorkerTokenCounter } from '../adapters/outbound/tokens/worker-token-counter.ts';
import type { Configuration } from '../config/configuration.ts';
import { mcpServers } from './mcp-servers.ts';
import { homeFiles } from '../config/home-files.ts';
import { modelSettings, namedModels } from '../config/model-settings.ts';
import type { ModelSettings } from '../config/model-settings.ts';
import type { Config } from '../config/schema.ts';
import { readVersion } from '../config/version.ts';
import type { Clock } from '../core/ports/clock.ts';
import { tokens } from './tokens.ts';

/** What the core needs from outside, except the store, which takes time to open. */
export const adaptersModule = new ContainerModule(({ bind }) => {
  bind(tokens.clock).toResolvedValue(() => new SystemClock(), []);
  bind(tokens.ids).toResolvedValue(() => new UuidIds(), []);
  bind(tokens.digest).toResolvedValue(() => new Sha256Digest(), []);
  bind(tokens.failpoints).toResolvedValue(({ failpoints }) => makeFailpoints(failpoints), [tokens.configuration]);
  bind(tokens.hub).toResolvedValue((logger) => new MemoryEventHub(logger), [tokens.logger]);
  bind(tokens.tokenCounter).toResolvedValue((logger) => new WorkerTokenCounter({ logger }), [tokens.logger]);

  bind(tokens.provider).toResolvedValue(
    (configuration, clock) => makeProviderRouter(routesOf(configuration, clock)),
    [tokens.configuration, tokens.clock],
  );

  bind(tokens.toolHost).toResolvedValue(
    ({ config, environment }, clock, queries, logger) =>
      new McpToolHost({
        servers: mcpServers(config, environment),
        inheritedEnv: {
          PATH: environment.getNamed('PATH') ?? '',
          HOME: environment.getNamed('HOME') ?? '',
        },
        clientVersion: readVersion(),
        clock,
        queries,
        logger,
      }),
    [tokens.configuration, tokens.clock, tokens.queries, tokens.logger],
  );

  bind(tokens.catalog).toResolvedValue(
    ({ config, home }, clock, logger) =>
      makeLayeredCatalog({
        configured: configuredLimits(config),
        cacheFile: join(home, homeFiles.modelLimits),
        clock,
        logger,
      }),
    [tokens.configuration, tokens.clock, tokens.logger],
  );
});

/** The adapter of each endpoint. A key is given to the adapter of its own address and to no other. */
function routesOf({ config, endpoints }: Configuration, clock: Clock): readonly ProviderRoute[] {
  const { first_byte_seconds, idle_seconds, total_seconds } = config.model.timeouts;
  return endpoints.map(({ provider, interface: wire, baseUrl, apiKey, headers }) => {
    if (baseUrl === null || wire === 'demo') return { provider, baseUrl, adapter: makeDemoModel({ clock }) };
    const adapter = makeProvider(wire, {
      baseUrl,
      apiKey,
      headers,
      optionsFor: (model) => optionsOf(modelSettings(config, provider, model)),
      firstByteTimeoutMs: first_byte_seconds * 1000,
      idleTimeoutMs: idle_seconds * 1000,
      totalTimeoutMs: total_seconds * 1000,
    });
    return { provider, baseUrl, adapter };
  });
}

function optionsOf({ temperature, reasoningEffort, options, alternatingRoles }: ModelSettings): ModelOptions {
  return { temperature, reasoningEffort, providerOptions: options, alternatingRoles };
}

function configuredLimits(config: Config): readonly ConfiguredLimit[] {
  return namedModels(config).flatMap(({ provider, model }) => {
    const { contextTokens, outputTokens, images, files } = modelSettings(config, provider, model);
    return [contextTokens, outputTokens, images, files].every((said) => said === null)
      ? []
      : [{ provider, model, baseUrl: null, contextTokens, outputTokens, images, files }];
  });
}
