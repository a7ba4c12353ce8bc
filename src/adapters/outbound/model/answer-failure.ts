import type { FailureKind } from '../../../core/domain/model/failure.ts';
import { isRecord } from './error-facts.ts';

/**
 * Finish reasons by which a provider says that an answer did not end well. `finish_reason` is one; some aggregators
 * hide the true one in `native_finish_reason`.
 */
export function finishReasonFailure(reason: string | null): FailureKind | null {
  if (reason === null) return null;
  if (/context[_ ]?(?:window|length|size|limit)?[_ ]?(?:exceeded|overflow)/i.test(reason)) return 'context_overflow';
  if (/^(?:max_?prompt|prompt_too_long|input_too_long)/i.test(reason)) return 'context_overflow';
  return /error|fail|abort|cancel|time_?out|overload|interrupt|insufficient|unavailable|malformed|unexpected/i.test(
    reason,
  )
    ? 'unavailable'
    : null;
}

/** Signs of a silently truncated input, as far as one answer shows them. */
export interface AnswerSigns {
  readonly finishReason: string | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly hasContent: boolean;
  /** The model's window where it is known for certain. */
  readonly windowTokens: number | null;
}

/**
 * Whether an answer is really an overflow: the server cut the input until it filled the window and had no token left to
 * say anything, or took more than the known window holds.
 */
export function isSilentOverflow(signs: AnswerSigns): boolean {
  const { promptTokens, completionTokens, windowTokens } = signs;
  if (promptTokens === null || promptTokens <= 0) return false;
  if (windowTokens !== null && promptTokens > windowTokens) return true;
  const saidNothing = signs.finishReason === 'length' && completionTokens === 0 && !signs.hasContent;
  return saidNothing && (windowTokens === null || promptTokens >= windowTokens * 0.99);
}

/** What is wrong with a whole chat completion that holds no error object; null when nothing is. */
export function answerFailure(
  body: Readonly<Record<string, unknown>>,
  windowTokens: number | null,
): FailureKind | null {
  const choices = body['choices'];
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isRecord(choice)) return null;
  const message = isRecord(choice['message']) ? choice['message'] : choice['delta'];
  const usage = isRecord(body['usage']) ? body['usage'] : {};
  const finishReason = textOrNull(choice['finish_reason']);
  const signs: AnswerSigns = {
    finishReason,
    promptTokens: countOrNull(usage['prompt_tokens']),
    completionTokens: countOrNull(usage['completion_tokens']),
    hasContent: isRecord(message) && (isFilled(message['content']) || isFilled(message['tool_calls'])),
    windowTokens,
  };
  const byReason = finishReasonFailure(finishReason);
  if (byReason !== null) return byReason;
  if (isSilentOverflow(signs)) return 'context_overflow';
  return signs.hasContent ? null : finishReasonFailure(textOrNull(choice['native_finish_reason']));
}

function isFilled(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function countOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
