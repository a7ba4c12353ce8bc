import { contextSize, reportedSize } from '../domain/compression/context-size.ts';
import type { ContextSize, RequestExtras } from '../domain/compression/context-size.ts';
import { withoutSummary } from '../domain/compression/no-summary.ts';
import { isSummarisable, noPlaceholders, placeholdersFor } from '../domain/compression/placeholders.ts';
import type { Placeholders } from '../domain/compression/placeholders.ts';
import { windowOfModel } from '../domain/compression/trigger.ts';
import type { CompressionPolicy, ContextWindow } from '../domain/compression/trigger.ts';
import { openBreaker } from '../domain/lineage/lineage.ts';
import type { CompressionLineage } from '../domain/lineage/lineage.ts';
import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import { outputCap, outputLimit } from '../domain/model/output-limit.ts';
import type { OutputLimit } from '../domain/model/output-limit.ts';
import { addressOf } from '../domain/session/state.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { MessageDraft } from '../domain/transcript/message.ts';
import type { ModelCatalog, ModelInputs } from '../ports/model-catalog.ts';
import type { ModelTarget } from '../ports/model-provider.ts';
import type { TokenCounter } from '../ports/token-counter.ts';
import type { ToolDescriptor, ToolHost } from '../ports/tool-host.ts';

/** What the next request would be, and what has to happen before it. */
export interface Outlook {
  /** Old tool outputs that it shows as a line, when it is sent without a compression. */
  readonly placeholders: Placeholders;
  /** Of the request as it is sent. */
  readonly size: ContextSize;
  /** Whether the transcript is to be compressed first. */
  readonly due: boolean;
  /** Why it can't be sent at all, as it is. */
  readonly failure: Failure | null;
}

export interface TurnTools {
  readonly tools: readonly ToolDescriptor[];
  /** What their schemas cost in every request. */
  readonly toolTokens: number;
}

/** The tools that a session has at this moment. */
export async function readTools(
  deps: { readonly tools: ToolHost; readonly tokens: TokenCounter },
  { profile }: SessionState,
  signal: AbortSignal,
): Promise<TurnTools> {
  const tools = profile.tools.length === 0 ? [] : await deps.tools.list(profile.tools, signal);
  if (tools.length === 0) return { tools, toolTokens: 0 };
  const counts = await deps.tokens.count(
    tools.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters })),
  );
  return { tools, toolTokens: counts.reduce((sum, count) => sum + count, 0) };
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
  /** The size of the context that the model reports with an answer, or null when the report can't be believed. */
  reported(answer: MessageDraft): number | null;
  /** How long the answer to a request of this size may be. */
  output(size: ContextSize): OutputLimit;
  /** Whether a request surely doesn't fit. A window that nobody stated proves nothing. */
  overflows(size: ContextSize): boolean;
  outlook(state: SessionState, promptTokens: number, now: string): Outlook;
  /** The model that could read the transcript, when the session has moved to one with a smaller window since. */
  largerModel(state: SessionState): ModelTarget | null;
  /** Says that nothing more can be done to make a request fit, and what fills the window. */
  exhausted(tokens: number, cause: Failure | null): Failure;
  /** Says why nothing was sent after a compression has failed: the request can't fit, or its summary can't be had. */
  uncompressed(
    size: ContextSize,
    failed: { readonly failure: Failure; readonly noSummary: boolean },
    lineage: CompressionLineage,
    now: string,
  ): Failure;
  /** Says that a request doesn't fit as it is, and what fills the window. */
  doesNotFit(tokens: number): string;
}

export function makeTurnContext(
  deps: {
    readonly catalog: ModelCatalog;
    readonly policy: CompressionPolicy;
    readonly maxOutputTokens: number | null;
  },
  state: SessionState,
  { tools, toolTokens }: TurnTools,
  target: ModelTarget = addressOf(state.profile),
): TurnContext {
  const { systemPrompt, systemPromptTokens } = state.profile;
  const { policy } = deps;
  const { takes = {} } = deps.catalog.limits(target);
  const extras = (promptTokens: number): RequestExtras => ({
    systemTokens: systemPromptTokens,
    toolTokens,
    promptTokens,
  });
  const size = (current: SessionState, promptTokens: number): ContextSize =>
    contextSize(current, target, extras(promptTokens));

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
    reported: (answer) => reportedSize(answer, isStated() ? windowNow().windowTokens : null),
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
    uncompressed: ({ tokens }, { failure, noSummary }, lineage, now) =>
      noSummary ? withoutSummary(doesNotFit(tokens), failure, lineage, now) : exhausted(tokens, failure),
    doesNotFit,
  };

  function windowNow(): ContextWindow {
    return windowOfModel(policy, deps.catalog.limits(target), deps.maxOutputTokens);
  }

  /** A window that nobody stated proves nothing: the provider is asked. */
  function isStated(): boolean {
    return deps.catalog.limits(target).source !== 'default';
  }

  function outlook(current: SessionState, promptTokens: number, now: string): Outlook {
    const { windowTokens, triggerTokens } = windowNow();
    const full = size(current, promptTokens);
    const { tokens } = full;
    const whole = { placeholders: noPlaceholders, size: full, due: false, failure: null };
    if (isStated() && systemPromptTokens + toolTokens >= windowTokens) return { ...whole, failure: tooSmall() };
    if (!policy.enabled || tokens < triggerTokens) return whole;
    const placeholders = placeholdersFor(current.messages, { protectLastN: policy.protectLastN, triggerTokens });
    const reduced = reducedBy(full, placeholders);
    const lighter = { placeholders, size: reduced, due: false };
    if (reduced.tokens < triggerTokens && isSummarisable(current.messages, triggerTokens)) {
      return { ...lighter, failure: null };
    }
    const breaker = openBreaker(current.lineage, now);
    const sent = tokens > windowTokens ? { ...lighter, failure: null } : whole;
    if (breaker === null || (breaker === 'frequent' && tokens > windowTokens)) return { ...sent, due: true };
    const isTooLarge = isStated() && sent.size.tokens > windowTokens;
    if (!isTooLarge) return sent;
    return { ...sent, failure: withoutSummary(doesNotFit(reduced.tokens), null, current.lineage, now) };
  }

  function exhausted(tokens: number, cause: Failure | null): Failure {
    if (systemPromptTokens + toolTokens >= windowNow().windowTokens) return tooSmall();
    const message = doesNotFit(tokens);
    return failureOf('context_exhausted', cause === null ? message : `${message} ${cause.message}`, {
      providerStatus: cause?.providerStatus ?? null,
    });
  }

  function doesNotFit(tokens: number): string {
    return (
      `The request of about ${String(tokens)} tokens does not fit the window of ${String(windowNow().windowTokens)} ` +
      `tokens (${filledBy()}).`
    );
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

function reducedBy({ tokens, localTokens, reportedTokens }: ContextSize, { savedTokens }: Placeholders): ContextSize {
  return { tokens: tokens - savedTokens, localTokens: localTokens - savedTokens, reportedTokens };
}
