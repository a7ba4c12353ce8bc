import { contextSize } from '../domain/compression/context-size.ts';
import type { ContextSize, RequestExtras } from '../domain/compression/context-size.ts';
import { isSummarisable, noPlaceholders, placeholdersFor } from '../domain/compression/placeholders.ts';
import type { Placeholders } from '../domain/compression/placeholders.ts';
import { contextWindow } from '../domain/compression/trigger.ts';
import type { CompressionPolicy, ContextWindow } from '../domain/compression/trigger.ts';
import { openBreaker } from '../domain/lineage/lineage.ts';
import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import { outputCap, outputLimit } from '../domain/model/output-limit.ts';
import type { OutputLimit } from '../domain/model/output-limit.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { ModelCatalog, ModelInputs } from '../ports/model-catalog.ts';
import type { ModelTarget } from '../ports/model-provider.ts';
import type { ToolDescriptor } from '../ports/tool-host.ts';

/** What the next request would be, and what has to happen before it. */
export interface Outlook {
  /** Old tool outputs that it shows as a line. */
  readonly placeholders: Placeholders;
  /** Whether the transcript is to be compressed first. */
  readonly due: boolean;
  /** Why it can't be sent at all, as it is. */
  readonly failure: Failure | null;
}

/** What a turn may send to its model, and how large its next request is. */
export interface TurnContext {
  readonly target: ModelTarget;
  readonly systemPrompt: string | null;
  /** As it is known at this moment: an overflow may teach a smaller one. */
  readonly window: ContextWindow;
  /** What the model takes beside text, as far as it is known. */
  readonly takes: ModelInputs;
  readonly tools: readonly ToolDescriptor[];
  extras(promptTokens: number): RequestExtras;
  size(state: SessionState, promptTokens: number): ContextSize;
  /** How long the answer to a request of this size may be. */
  output(size: ContextSize): OutputLimit;
  /** Whether a request surely doesn't fit. A window that nobody stated proves nothing. */
  overflows(size: ContextSize): boolean;
  outlook(state: SessionState, promptTokens: number, now: string): Outlook;
  /** The model that could read the transcript, when the session has moved to one with a smaller window since. */
  largerModel(state: SessionState): ModelTarget | null;
  /** Says that nothing more can be done to make a request fit, and what fills the window. */
  exhausted(tokens: number, cause: Failure | null): Failure;
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
  const { policy } = deps;
  const { takes = {} } = deps.catalog.limits(target);
  const extras = (promptTokens: number): RequestExtras => ({
    systemTokens: systemPromptTokens,
    toolTokens,
    promptTokens,
  });
  const size = (current: SessionState, promptTokens: number): ContextSize => contextSize(current, extras(promptTokens));

  return {
    target,
    systemPrompt,
    get window() {
      return windowNow();
    },
    takes,
    tools,
    extras,
    size,
    output: ({ tokens }) => {
      const limits = deps.catalog.limits(target);
      return outputLimit(limits, outputCap(limits, deps.maxOutputTokens), tokens);
    },
    overflows: ({ tokens }) => policy.enabled && isStated() && tokens > windowNow().windowTokens,
    outlook,
    largerModel: ({ answeredBy }) => {
      if (answeredBy === null) return null;
      const isLarger = deps.catalog.limits(answeredBy).contextTokens > deps.catalog.limits(target).contextTokens;
      return isLarger ? answeredBy : null;
    },
    exhausted,
  };

  function windowNow(): ContextWindow {
    const limits = deps.catalog.limits(target);
    return contextWindow(policy, limits, outputCap(limits, deps.maxOutputTokens));
  }

  /** A window that nobody stated proves nothing: the provider is asked. */
  function isStated(): boolean {
    return deps.catalog.limits(target).source !== 'default';
  }

  function outlook(current: SessionState, promptTokens: number, now: string): Outlook {
    const { windowTokens, triggerTokens } = windowNow();
    const { tokens } = size(current, promptTokens);
    const whole = { placeholders: noPlaceholders, due: false, failure: null };
    if (isStated() && systemPromptTokens + toolTokens >= windowTokens) return { ...whole, failure: tooSmall() };
    if (!policy.enabled || tokens < triggerTokens) return whole;
    const placeholders = placeholdersFor(current.messages, { protectLastN: policy.protectLastN, triggerTokens });
    const reduced = tokens - placeholders.savedTokens;
    if (reduced < triggerTokens && isSummarisable(current.messages, triggerTokens)) return { ...whole, placeholders };
    const breaker = openBreaker(current.lineage, now);
    if (breaker === null || (breaker === 'frequent' && tokens > windowTokens)) return { ...whole, due: true };
    if (tokens <= windowTokens) return whole;
    return {
      placeholders,
      due: false,
      failure: isStated() && reduced > windowTokens ? exhausted(reduced, null) : null,
    };
  }

  function exhausted(tokens: number, cause: Failure | null): Failure {
    const { windowTokens } = windowNow();
    if (systemPromptTokens + toolTokens >= windowTokens) return tooSmall();
    const message =
      `The request of about ${String(tokens)} tokens does not fit the window of ${String(windowTokens)} ` +
      `tokens (${filledBy()}).`;
    return failureOf('context_exhausted', cause === null ? message : `${message} ${cause.message}`, {
      providerStatus: cause?.providerStatus ?? null,
    });
  }

  function tooSmall(): Failure {
    const message =
      `The system prompt and the tools alone fill the window of ${String(windowNow().windowTokens)} tokens ` +
      `(${filledBy()}). Choose a model with a larger window, fewer tools or a shorter system prompt.`;
    return failureOf('window_too_small', message);
  }

  function filledBy(): string {
    return `${String(systemPromptTokens)} of them are the system prompt, ${String(toolTokens)} the tools`;
  }
}

function targetOf({ profile: { provider, model, baseUrl } }: SessionState): ModelTarget {
  return { provider, model, baseUrl };
}
