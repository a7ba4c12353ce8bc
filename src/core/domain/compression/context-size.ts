import type { Breaker } from '../lineage/lineage.ts';
import { isSameModel } from '../session/state.ts';
import type { ModelAddress, SessionState } from '../session/state.ts';
import type { MessageDraft } from '../transcript/message.ts';
import { sumTokens } from '../transcript/tokens.ts';

/** What a request carries beside the transcript, in tokens. */
export interface RequestExtras {
  readonly systemTokens: number;
  readonly toolTokens: number;
  /** The pending prompt, while it is not part of the transcript; else 0. */
  readonly promptTokens: number;
}

export interface ContextSize {
  /** The local count of everything that would be sent. */
  readonly localTokens: number;
  /** What the provider last reported plus what was added since, or null when no report is believed. */
  readonly reportedTokens: number | null;
  /** The larger of the two: what decisions are made on. */
  readonly tokens: number;
}

/** The size of a session's next request, if it goes to `reader`: what another model has counted says nothing of it. */
export function contextSize(state: SessionState, reader: ModelAddress, extras: RequestExtras): ContextSize {
  const localTokens = sumTokens(state.messages) + extras.systemTokens + extras.toolTokens + extras.promptTokens;
  const anchor = isSameModel(state.answeredBy, reader) ? state.usageAnchor : null;
  const since = anchor === null ? [] : state.messages.filter((message) => message.id > anchor.messageId);
  const reportedTokens = anchor === null ? null : anchor.tokens + sumTokens(since) + extras.promptTokens;
  return { localTokens, reportedTokens, tokens: Math.max(localTokens, reportedTokens ?? 0) };
}

/**
 * The size of the context up to and including an answer, from its report; null when the report can't be believed. What a
 * provider has answered was no larger than its window. Of the answer only what goes out again counts, as it is counted
 * here: the reported output holds the thinking too.
 */
export function reportedSize(
  { usage, tokens }: Pick<MessageDraft, 'usage' | 'tokens'>,
  statedWindowTokens: number | null,
): number | null {
  const input = usage?.inputTokens ?? 0;
  return input > 0 && input <= (statedWindowTokens ?? Infinity) ? input + tokens : null;
}

/** The numbers that the next decision about compression is made on, for people and programs to look at. */
export interface ContextReport extends ContextSize {
  readonly windowTokens: number;
  readonly windowSource: string;
  readonly reserveTokens: number;
  readonly reserveSource: string;
  readonly triggerTokens: number;
  readonly triggerSource: string;
  readonly compressionEnabled: boolean;
  readonly breaker: Breaker;
}
