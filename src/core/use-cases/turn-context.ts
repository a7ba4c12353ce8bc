import { contextSize } from '../domain/compression/context-size.ts';
import type { ContextSize, RequestExtras } from '../domain/compression/context-size.ts';
import { contextWindow } from '../domain/compression/trigger.ts';
import type { CompressionPolicy, ContextWindow } from '../domain/compression/trigger.ts';
import { breakerIsOpen } from '../domain/lineage/lineage.ts';
import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import { outputCap, outputLimit } from '../domain/model/output-limit.ts';
import type { OutputLimit } from '../domain/model/output-limit.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { ModelCatalog, ModelInputs } from '../ports/model-catalog.ts';
import type { ModelTarget } from '../ports/model-provider.ts';
import type { ToolDescriptor } from '../ports/tool-host.ts';

/** What a turn may send to its model, and how large its next request is. */
export interface TurnContext {
  readonly target: ModelTarget;
  readonly systemPrompt: string | null;
  readonly window: ContextWindow;
  /** What the model takes beside text, as far as it is known. */
  readonly takes: ModelInputs;
  readonly tools: readonly ToolDescriptor[];
  extras(promptTokens: number): RequestExtras;
  size(state: SessionState, promptTokens: number): ContextSize;
  /** How long the answer to a request of this size may be. */
  output(size: ContextSize): OutputLimit;
  /** Whether the transcript is to be compressed before a request of this size. */
  isDue(state: SessionState, size: ContextSize, now: string): boolean;
  /** Whether a request surely doesn't fit. A window that nobody stated proves nothing. */
  overflows(size: ContextSize): boolean;
  /** Says that nothing more can be done to make a request fit, and what fills the window. */
  exhausted(size: ContextSize, cause: Failure | null): Failure;
}

export function makeTurnContext(
  deps: {
    readonly catalog: ModelCatalog;
    readonly policy: CompressionPolicy;
    readonly maxOutputTokens: number | null;
  },
  state: SessionState,
  tools: readonly ToolDescriptor[],
  toolTokens: number,
  target: ModelTarget = targetOf(state),
): TurnContext {
  const { systemPrompt, systemPromptTokens } = state.profile;
  const limits = deps.catalog.limits(target);
  const cap = outputCap(limits, deps.maxOutputTokens);
  const window = contextWindow(deps.policy, limits, cap);
  const extras = (promptTokens: number): RequestExtras => ({
    systemTokens: systemPromptTokens,
    toolTokens,
    promptTokens,
  });
  return {
    target,
    systemPrompt,
    window,
    takes: limits.takes ?? {},
    tools,
    extras,
    size: (current, promptTokens) => contextSize(current, extras(promptTokens)),
    output: (size) => outputLimit(limits, cap, size.tokens),
    isDue: (current, size, now) =>
      deps.policy.enabled && !breakerIsOpen(current.lineage, now) && size.tokens >= window.triggerTokens,
    overflows: (size) => deps.policy.enabled && limits.source !== 'default' && size.tokens > window.windowTokens,
    exhausted: (size, cause) => {
      const message =
        `The request of about ${String(size.tokens)} tokens does not fit the window of ${String(window.windowTokens)} ` +
        `tokens (${String(systemPromptTokens)} of them are the system prompt, ${String(toolTokens)} the tools).`;
      return failureOf('context_exhausted', cause === null ? message : `${message} ${cause.message}`, {
        providerStatus: cause?.providerStatus ?? null,
      });
    },
  };
}

function targetOf({ profile: { provider, model, baseUrl } }: SessionState): ModelTarget {
  return { provider, model, baseUrl };
}
