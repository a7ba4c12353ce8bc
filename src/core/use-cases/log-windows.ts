import { windowOfModel } from '../domain/compression/trigger.ts';
import type { CompressionPolicy } from '../domain/compression/trigger.ts';
import { addressOf } from '../domain/session/state.ts';
import type { Logger } from '../ports/logger.ts';
import type { ModelCatalog } from '../ports/model-catalog.ts';
import type { CommitListener } from './sessions.ts';

/** Clients may name models; of more than so many some are told again. */
const maxTold = 1_000;

/**
 * Logs the effective numbers of a model's window when a turn starts that uses it for the first time in this process, and
 * again when they have changed: a provider may state another window at any time. `session.get` shows the same numbers.
 */
export function makeWindowLog(deps: {
  readonly catalog: ModelCatalog;
  readonly policy: CompressionPolicy;
  readonly maxOutputTokens: number | null;
  readonly logger: Pick<Logger, 'info'>;
}): CommitListener {
  const told = new Map<string, string>();
  return (sessionId, { profile }, events) => {
    if (!events.some(({ type }) => type === 'turn.started')) return;
    const { provider, model, baseUrl } = addressOf(profile);
    const limits = deps.catalog.limits({ provider, model, baseUrl });
    const window = windowOfModel(deps.policy, limits, deps.maxOutputTokens);
    const numbers = { ...window, windowSource: limits.source, compression: deps.policy.enabled };
    const key = JSON.stringify([provider, model, baseUrl]);
    const text = JSON.stringify(numbers);
    if (told.get(key) === text) return;
    if (told.size >= maxTold) told.clear();
    told.set(key, text);
    deps.logger.info('the context window of a model', { sessionId, provider, model, baseUrl, ...numbers });
  };
}
