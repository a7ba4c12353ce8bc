import type { Failure } from '../model/failure.ts';
import { failureOf } from '../model/failure.ts';

/** What the summary's request brought. */
export interface SummaryAnswer {
  /** Without the model's thinking. */
  readonly text: string;
  readonly finishReason: string;
  readonly calledTools: boolean;
}

/** Why a text can't stand in place of a middle, or null when it can. Judged before anything is measured. */
export function whyNoSummary(answer: SummaryAnswer): Failure | null {
  if (answer.calledTools) return unusable('the model answered the summary request with a tool call');
  if (!/[\p{L}\p{N}]/u.test(answer.text)) return unusable('the summary is empty');
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

/** A longer text that begins as an error or an apology does tells of one. */
const maxErrorCharacters = 500;

/**
 * Short texts that some servers send with status 200 in place of an answer, and refusals. A summary that only mentions an
 * error is none: the text must be short and begin as an error does.
 */
function isErrorText(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length > maxErrorCharacters) return false;
  if (/^[{[]/.test(trimmed) && /"error"\s*:|^[{[\s]*"(?:errors|detail|message)"\s*:/.test(trimmed)) return true;
  // Signs and marks of emphasis before the first word.
  const words = trimmed.replace(/^[^\p{L}\p{N}<]+/u, '');
  return errorBeginnings.some((beginning) => beginning.test(words));
}

const statusPhrase =
  'bad request|unauthorized|payment required|forbidden|not found|(?:request|gateway) time-?out|payload too large|' +
  'too many requests|internal server error|bad gateway|service (?:temporarily )?unavailable|overloaded';
const barePhrase =
  'bad gateway|service (?:temporarily )?unavailable|gateway time-?out|too many requests|rate limit (?:exceeded|reached)|' +
  '(?:connection|request|upstream|stream) (?:\\w+ )?(?:error|failed|timed out)';
/** A server's phrase ends here. "Bad gateway errors were fixed" goes on. */
const phraseEnd = String.raw`(?=\s*(?:$|[\r\n.,:;!*()<{}\]]|[-–—]\s))`;

const errorBeginnings: readonly RegExp[] = [
  /^(?:<!doctype html|<html|internal server error\b|traceback \(most recent)/i,
  /^(?:(?:api|http|server|internal|upstream|provider|fatal) )?error(?: code)?(?: \d{3})?\s?[:!*\]]/i,
  new RegExp(`^(?:http\\S* )?(?:error )?[45]\\d\\d[\\s:–-]+(?:${statusPhrase})${phraseEnd}`, 'i'),
  new RegExp(`^(?:${barePhrase})${phraseEnd}`, 'i'),
  /^(?:(?:oops|(?:i['’]?m |we['’]?re )?(?:very |so )?sorry|my apologies|(?:i|we) apologi[sz]e)\b(?:[,.!…]| but| for))/i,
  /^(?:an? (?:\w+ )?error (?:has )?occurred|something went wrong)\b/i,
];

function unusable(what: string): Failure {
  return failureOf('compression_failed', `The transcript was not compressed: ${what}.`, { retryable: true });
}
