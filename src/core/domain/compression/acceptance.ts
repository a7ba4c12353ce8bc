import type { Failure } from '../model/failure.ts';
import { failureOf } from '../model/failure.ts';

/** What the summary's request brought. */
export interface SummaryAnswer {
  readonly text: string;
  readonly finishReason: string;
  readonly calledTools: boolean;
}

/** Why a text can't stand in place of a middle, or null when it can. Judged before anything is measured. */
export function whyNoSummary(answer: SummaryAnswer): Failure | null {
  if (answer.calledTools) return unusable('the model answered the summary request with a tool call');
  if (answer.text.trim() === '') return unusable('the summary is empty');
  if (answer.finishReason !== 'stop') return unusable(`the summary did not end normally (${answer.finishReason})`);
  if (isErrorText(answer.text)) return unusable('the summary is an error message');
  return null;
}

/** The least share of the context that a compression must save. */
const leastGain = 0.1;

/** Whether a rebuilt context is worth its rotation: at least 10 % smaller, and under the plan's bound. */
export function isAcceptable(sizes: {
  readonly beforeTokens: number;
  readonly afterTokens: number;
  readonly boundTokens: number;
}): boolean {
  return sizes.afterTokens <= (1 - leastGain) * sizes.beforeTokens && sizes.afterTokens < sizes.boundTokens;
}

/**
 * Short texts that some servers send with status 200 in place of an answer. A summary that only mentions an error is
 * none: the text must be short and begin as an error does.
 */
function isErrorText(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length > 500) return false;
  if (/^\s*[{[]/.test(trimmed) && /"error"\s*:/.test(trimmed)) return true;
  return /^(<!doctype html|<html|error:|\[error\]|internal server error\b|an error occurred\b|traceback \(most recent)/i.test(
    trimmed,
  );
}

function unusable(what: string): Failure {
  return failureOf('compression_failed', `The transcript was not compressed: ${what}.`, { retryable: true });
}
