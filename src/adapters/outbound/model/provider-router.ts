import { failureOf } from '../../../core/domain/model/failure.ts';
import type { ModelEvent, ModelProvider, ModelTarget } from '../../../core/ports/model-provider.ts';

export interface ProviderRoute {
  readonly provider: string;
  /** The address that the adapter talks to; null for one without an address, such as the demo model. */
  readonly baseUrl: string | null;
  readonly adapter: ModelProvider;
}

/**
 * Sends each request to the adapter that is configured for its provider and address. A target without an address takes
 * the first route of its provider. A target that nothing is configured for fails with reason `configuration`.
 */
export function makeProviderRouter(routes: readonly ProviderRoute[]): ModelProvider {
  return {
    stream(request, signal) {
      const route = routes.find(
        (each) => each.provider === request.target.provider && isSameAddress(each, request.target),
      );
      return route === undefined ? unknownTarget(request.target, routes) : route.adapter.stream(request, signal);
    },
  };
}

function isSameAddress(route: ProviderRoute, target: ModelTarget): boolean {
  return target.baseUrl === null || withoutSlash(target.baseUrl) === withoutSlash(route.baseUrl ?? '');
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

async function* unknownTarget(target: ModelTarget, routes: readonly ProviderRoute[]): AsyncGenerator<ModelEvent, void> {
  const isKnown = routes.some((route) => route.provider === target.provider);
  const message = isKnown
    ? `The address ${String(target.baseUrl)} is not configured for the provider "${target.provider}".`
    : `The provider "${target.provider}" is not configured; configured are: ${routes.map((route) => route.provider).join(', ') || 'none'}.`;
  yield { kind: 'failed', failure: failureOf('configuration', message), learnt: null, usage: null };
}
