import type { Clock } from '../../../core/ports/clock.ts';
import type { Logger } from '../../../core/ports/logger.ts';
import type { ModelCatalog, ModelInputs, ModelLimits } from '../../../core/ports/model-catalog.ts';
import type { ModelTarget } from '../../../core/ports/model-provider.ts';
import { cachedLimits } from './models-dev-cache.ts';
import { shippedLimits } from './shipped-limits.ts';

/** A limit that an operator wrote. */
export interface ConfiguredLimit {
  readonly provider: string;
  readonly model: string;
  /** Null: at any address. */
  readonly baseUrl: string | null;
  readonly contextTokens: number | null;
  readonly outputTokens: number | null;
  /** Whether the model takes images, and files that are no text; null: it is not said. */
  readonly images?: boolean | null;
  readonly files?: boolean | null;
}

export interface CatalogOptions {
  readonly configured: readonly ConfiguredLimit[];
  /** The path of `models_dev_cache.json`; it need not exist. */
  readonly cacheFile: string | null;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** What one source knows of a model. */
export interface KnownLimits {
  readonly contextTokens: number;
  readonly outputTokens: number | null;
  readonly takes?: ModelInputs;
}

/** A source of limits by provider and model. */
export type LimitSource = (provider: string, model: string) => KnownLimits | null;

/** The window of a model that nobody knows. */
const defaultContextTokens = 8192;

/**
 * The limits of a model from the first source that knows its window: the configuration, the cache file in the home
 * folder, the catalogue that is shipped, the default. The last one is said aloud, once per model.
 */
export function makeLayeredCatalog(options: CatalogOptions): ModelCatalog {
  const cache: LimitSource = options.cacheFile === null ? () => null : cachedLimits(options.cacheFile, options);
  const warned = new Set<string>();

  return {
    limits(target) {
      const written = options.configured.find((limit) => isFor(limit, target));
      const found = withoutConfiguration(target);
      return {
        contextTokens: written?.contextTokens ?? found.contextTokens,
        outputTokens: written?.outputTokens ?? found.outputTokens,
        ...(written?.outputTokens !== undefined &&
          written.outputTokens !== null && { cappedOutputTokens: written.outputTokens }),
        ...takesField(written, found.takes),
        source: written === undefined || written.contextTokens === null ? sourceOf(found, target) : 'configured',
      };
    },
  };

  function withoutConfiguration({ provider, model }: ModelTarget): ModelLimits {
    const cached = cache(provider, model);
    if (cached !== null) return { ...cached, source: 'cache' };
    const shipped = shippedLimits(provider, model);
    if (shipped !== null) return { ...shipped, source: 'catalogue' };
    return { contextTokens: defaultContextTokens, outputTokens: null, source: 'default' };
  }

  function sourceOf(found: ModelLimits, target: ModelTarget): ModelLimits['source'] {
    const name = `${target.provider} ${target.model}`;
    if (found.source !== 'default' || warned.has(name)) return found.source;
    warned.add(name);
    options.logger.warn(
      `the context window of this model is not known; ${String(defaultContextTokens)} tokens are assumed. Set model.context_length, or put the model into models_dev_cache.json`,
      { provider: target.provider, model: target.model },
    );
    return found.source;
  }
}

/** The operator's word counts, kind by kind. */
function takesField(
  written: ConfiguredLimit | undefined,
  found: ModelInputs | undefined,
): { readonly takes?: ModelInputs } {
  const images = written?.images ?? found?.images;
  const files = written?.files ?? found?.files;
  if (images === undefined && files === undefined) return {};
  return { takes: { ...(images !== undefined && { images }), ...(files !== undefined && { files }) } };
}

function isFor(limit: ConfiguredLimit, target: ModelTarget): boolean {
  const isSameAddress = limit.baseUrl === null || target.baseUrl === null || limit.baseUrl === target.baseUrl;
  return limit.provider === target.provider && limit.model === target.model && isSameAddress;
}
