/*
 * How a step ended, from what the SDK reported and what the exchange shows. Pure.
 *
 * A step is finished only if a `finish` part came, its raw reason is known and no error, no `error` part was seen and the
 * signal isn't aborted. The signal is looked at first: whatever an aborted request throws means nothing.
 */
import { failureOf } from '../../../core/domain/model/failure.ts';
import type { Failure, FailureKind } from '../../../core/domain/model/failure.ts';
import type { Usage } from '../../../core/domain/model/usage.ts';
import type { ContentPart, ToolCall } from '../../../core/domain/transcript/message.ts';
import type { FinishReason, LearntLimit, ModelEvent } from '../../../core/ports/model-provider.ts';
import { finishReasonFailure, isSilentOverflow } from './answer-failure.ts';
import type { Exchange } from './exchange.ts';
import { operatorMessage } from './operator-message.ts';
import type { WireUsage } from './wire-chunk.ts';

/** What the SDK's stream said of its end. */
export interface SdkEnd {
  readonly rawFinishReason: string | null;
  readonly unifiedFinishReason: string | null;
  readonly sawError: boolean;
}

export interface StepFacts {
  readonly isAborted: boolean;
  readonly end: SdkEnd;
  readonly exchange: Exchange;
  /** The answer's tool calls; null when one of them can't be answered. */
  readonly calls: readonly ToolCall[] | null;
  /** Whether the request brought tools. */
  readonly offersTools: boolean;
  /** What of the answer is more than text. */
  readonly parts: readonly ContentPart[] | null;
}

/** The last events of a step: its tool calls and `finished`, or `failed` alone. */
export function concludeStep(facts: StepFacts): readonly ModelEvent[] {
  const { exchange, end } = facts;
  const usage = usageOf(exchange.usage);
  if (facts.isAborted) return [failed(abortedFailure, null, usage)];
  if (exchange.failure !== null) return [failed(exchange.failure.failure, exchange.failure.learnt, usage)];
  if (end.rawFinishReason === null || end.sawError) return [failed(cutOff(exchange), null, usage)];
  const hidden = hiddenFailure(exchange, end.rawFinishReason, finishReasonOf(end, []));
  if (hidden !== null) return [failed(hidden, null, usage)];
  const { calls } = facts;
  if (calls === null) return [failed(namelessCall, null, usage)];
  // A call that began and never became whole is half a call, whatever the finish reason says.
  if (exchange.startedCalls > calls.length) return [failed(cutOff(exchange), null, usage)];
  const finishReason = finishReasonOf(end, calls);
  if (calls.length === 0 && finishReason === 'tool_calls' && exchange.hasText) {
    // Where no tool was offered, none can have been called: the reason is a mistake, and the text is the answer.
    if (facts.offersTools) return [failed(lostCall, null, usage)];
    return [{ kind: 'finished', finishReason: 'stop', usage, parts: facts.parts }];
  }
  return [
    ...calls.map((call) => ({ kind: 'tool_call' as const, call })),
    { kind: 'finished', finishReason, usage, parts: facts.parts },
  ];
}

export const abortedFailure: Failure = failureOf('aborted', 'The request was stopped.');

const namelessCall = failureOf('cut_off', 'The model asked for a tool without naming it.', { retryable: true });

const lostCall = failureOf('cut_off', 'The model asked for a tool, and its call did not arrive.', { retryable: true });

function failed(failure: Failure, learnt: LearntLimit | null, usage: Usage | null): ModelEvent {
  return { kind: 'failed', failure, learnt, usage };
}

function cutOff(exchange: Exchange): Failure {
  const began = exchange.hasText || exchange.hasToolCalls;
  const message = began
    ? 'The answer broke off before it was finished.'
    : 'The provider ended the stream without an answer.';
  return failureOf('cut_off', message, { retryable: true });
}

/** A failure that calls itself an end: by its finish reason, by the native one, or by having truncated the input. */
function hiddenFailure(exchange: Exchange, rawFinishReason: string, finishReason: FinishReason): Failure | null {
  const isEmpty = !exchange.hasText && !exchange.hasToolCalls;
  if (isEmpty && finishReason === 'content_filter') return namedFailure('content_filtered', rawFinishReason);
  const byReason = finishReasonFailure(rawFinishReason);
  if (byReason !== null)
    return namedFailure(isEmpty || byReason === 'context_overflow' ? byReason : 'cut_off', rawFinishReason);
  const native = finishReasonFailure(exchange.nativeFinishReason);
  if (native !== null) return namedFailure(isEmpty ? native : 'cut_off', exchange.nativeFinishReason ?? '');
  const isOverflow = isSilentOverflow({
    finishReason: rawFinishReason,
    promptTokens: exchange.usage?.promptTokens ?? null,
    completionTokens: exchange.usage?.completionTokens ?? null,
    hasContent: !isEmpty || exchange.hasReasoning,
    windowTokens: null,
  });
  return isOverflow
    ? namedFailure('context_overflow', 'the server filled its window with the input and had no room for an answer')
    : null;
}

function namedFailure(kind: FailureKind, words: string): Failure {
  const message = operatorMessage({
    kind,
    status: null,
    texts: [words],
    contextTokens: null,
    isOverWholeBudget: false,
    secrets: [],
  });
  return failureOf(kind, message, { retryable: kind === 'unavailable' || kind === 'cut_off' });
}

function finishReasonOf(end: SdkEnd, calls: readonly ToolCall[]): FinishReason {
  const reason =
    byUnifiedReason[end.unifiedFinishReason ?? ''] ?? byRawReason[end.rawFinishReason?.toLowerCase() ?? ''] ?? 'other';
  // Some servers say "stop" with tool calls.
  return calls.length > 0 && (reason === 'stop' || reason === 'other') ? 'tool_calls' : reason;
}

const byUnifiedReason: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
};

const byRawReason: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  complete: 'stop',
  completed: 'stop',
  max_tokens: 'length',
  max_length: 'length',
  tool_use: 'tool_calls',
  tool_call: 'tool_calls',
  safety: 'content_filter',
  sensitive: 'content_filter',
};

/** Zero is what servers say that don't count; it would make a later estimate too small, so it is no number. */
function usageOf(usage: WireUsage | null): Usage | null {
  if (usage === null) return null;
  const inputTokens = positive(usage.promptTokens);
  const outputTokens = positive(usage.completionTokens);
  const totalTokens = positive(usage.totalTokens);
  return inputTokens === null && outputTokens === null && totalTokens === null
    ? null
    : { inputTokens, outputTokens, totalTokens };
}

function positive(count: number | null): number | null {
  return count !== null && count > 0 ? count : null;
}
