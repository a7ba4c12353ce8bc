import { contextSize } from '../domain/compression/context-size.ts';
import type { ContextReport } from '../domain/compression/context-size.ts';
import { windowOfModel } from '../domain/compression/trigger.ts';
import type { CompressionPolicy } from '../domain/compression/trigger.ts';
import { addressOf } from '../domain/session/state.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { ModelCatalog } from '../ports/model-catalog.ts';

/** Says on what the next decision about a compression of the session is made. It reads nothing. */
export type ReportContext = (state: SessionState) => ContextReport;

export function makeReportContext(deps: {
  readonly catalog: ModelCatalog;
  readonly policy: CompressionPolicy;
  readonly maxOutputTokens: number | null;
}): ReportContext {
  return (state) => {
    const { systemPromptTokens } = state.profile;
    const own = addressOf(state.profile);
    const limits = deps.catalog.limits(own);
    return {
      ...contextSize(state, own, { systemTokens: systemPromptTokens, toolTokens: 0, promptTokens: 0 }),
      ...windowOfModel(deps.policy, limits, deps.maxOutputTokens),
      windowSource: limits.source,
      compressionEnabled: deps.policy.enabled,
      breaker: state.lineage.breaker,
    };
  };
}
