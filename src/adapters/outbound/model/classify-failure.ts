/*
 * One place that says what a provider's error means. Pure: the same evidence gives the same answer.
 *
 * C1: a structured code decides before an exception's name, a name before a text, a text before a vague code or a status.
 * C2: throttling beats overflow words; an output cap and a payload's size are no overflow.
 * C3: only error objects are read (see error-facts.ts F1); an answer is judged by its finish reason and usage alone.
 * C4: a limit is learnt only where the provider states the window as a fact.
 */
import { failureOf } from '../../../core/domain/model/failure.ts';
import type { Failure, FailureKind } from '../../../core/domain/model/failure.ts';
import type { LearntLimit } from '../../../core/ports/model-provider.ts';
import { rolesRefusal } from './alternating-roles.ts';
import { answerFailure } from './answer-failure.ts';
import {
  isOverWholeBudget,
  plausibleWindow,
  statedContextLength,
  statedPromptTokens,
  statedWindow,
} from './context-statements.ts';
import { errorFacts, isRecord } from './error-facts.ts';
import type { ErrorFacts } from './error-facts.ts';
import { matchable } from './error-text.ts';
import * as table from './failure-table.ts';
import { operatorMessage } from './operator-message.ts';
import { retryAfterMs } from './retry-after.ts';

export interface FailureEvidence {
  /** The HTTP status of the answer; null where there was none or it isn't known. */
  readonly status: number | null;
  /** The answer's headers, names in any case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The error as it came: text, JSON text, an object or a list. */
  readonly body: unknown;
  /** Whether it came inside a stream whose own status was 200. */
  readonly inStream: boolean;
  /** Milliseconds since 1970, to judge a date in `retry-after`. */
  readonly nowMs?: number;
  /** Values that must not appear in the message. */
  readonly secrets?: readonly string[];
  /** The window that the model is known to have, to notice an answer to more than fits. */
  readonly windowTokens?: number;
}

export interface ClassifiedFailure {
  readonly failure: Failure;
  readonly learnt: LearntLimit | null;
  /** Whether the request was refused for the order of its roles. */
  readonly asksForAlternatingRoles?: boolean;
}

export function classifyFailure(evidence: FailureEvidence): ClassifiedFailure {
  const facts = errorFacts(evidence.body);
  const text = facts.texts.map(matchable).join(' | ');
  const status = errorStatus(evidence, facts);
  const kind = isAnswer(evidence.body)
    ? (answerFailure(evidence.body, evidence.windowTokens ?? null) ?? 'not_an_api')
    : isEmptyRefusal(evidence.body, status)
      ? 'context_overflow'
      : kindOf({ facts, text, status, inStream: evidence.inStream });
  return conclude(kind, { evidence, facts, text, status });
}

interface Case {
  readonly facts: ErrorFacts;
  readonly text: string;
  readonly status: number | null;
}

function kindOf(given: Case & { readonly inStream: boolean }): FailureKind {
  const { facts, text, status } = given;
  if (facts.isHtml) return kindOfPage(status);
  const decided =
    byCode(facts.codes) ??
    byCode(facts.names) ??
    byText(given) ??
    byVagueCode(given) ??
    byStatus(status, given.inStream);
  return decided === 'context_overflow' || decided === 'output_limit' ? inputOrOutput(decided, text) : decided;
}

/** The answer of a proxy or a web site, not of a model server. */
function kindOfPage(status: number | null): FailureKind {
  const kind = status === null || status < 400 || status === 404 ? 'not_an_api' : byStatus(status, false);
  return kind === 'bad_request' || kind === 'configuration' ? 'not_an_api' : kind;
}

function byCode(codes: readonly string[]): FailureKind | null {
  return table.tellingCodes.find(({ pattern }) => codes.some((code) => pattern.test(code)))?.kind ?? null;
}

function byText({ facts, text, status }: Case): FailureKind | null {
  const throttled = firstFamily(table.quotaAndThrottleTexts, text);
  if (throttled !== null) return throttled;
  if (table.softQuotaText.test(text)) return facts.retryAfterMs === null ? 'quota_exhausted' : 'rate_limited';
  if (status === 429 || status === 402 || status === 401) return null; // The status says it: sizes in the text don't matter.
  const isServerTrouble = status !== null && status >= 500;
  if (!isServerTrouble && table.namedWaitText.test(text)) return 'rate_limited';
  return (
    firstFamily(table.sizeTexts, text) ??
    structureOrOverflow(text) ??
    (isServerTrouble ? null : firstFamily(table.otherTexts, text))
  );
}

/** Some servers refuse an overflow with 400 or 413 and no words at all; "(no body)" is how SDKs print that. */
function isEmptyRefusal(body: unknown, status: number | null): boolean {
  if (status !== 400 && status !== 413) return false;
  if (body === null || body === undefined) return true;
  return typeof body === 'string' && /^\s*(?:\d{3} )?(?:status code )?(?:\(no body\))?\s*$/i.test(body);
}

function structureOrOverflow(text: string): FailureKind | null {
  const structure = firstPosition(table.structureTexts, text);
  const overflow = firstPosition(table.overflowTexts, text);
  if (structure === null && overflow === null) return null;
  return (structure ?? Infinity) < (overflow ?? Infinity) ? 'bad_request' : 'context_overflow';
}

function firstFamily(families: readonly table.TextFamily[], text: string): FailureKind | null {
  return families.find((family) => belongs(family, text))?.kind ?? null;
}

function firstPosition(families: readonly table.TextFamily[], text: string): number | null {
  const positions = families.filter((family) => belongs(family, text)).map(({ pattern }) => text.search(pattern));
  return positions.length === 0 ? null : Math.min(...positions);
}

function belongs({ pattern, unless }: table.TextFamily, text: string): boolean {
  return pattern.test(text) && unless?.test(text) !== true;
}

function byVagueCode({ facts, status }: Case): FailureKind | null {
  if (status !== null) return null;
  return (
    table.vagueCodes.find(({ pattern }) => [...facts.codes, ...facts.names].some((code) => pattern.test(code)))?.kind ??
    null
  );
}

function byStatus(status: number | null, inStream: boolean): FailureKind {
  if (status === null) return 'unavailable'; // A fault without a word of why, mostly in a stream that had begun well.
  if (status < 400) return inStream ? 'unavailable' : 'not_an_api';
  if (status === 401 || status === 403 || status === 407) return 'auth';
  if (status === 402) return 'quota_exhausted';
  if (status === 404 || status === 405 || status === 410) return 'configuration';
  if (status === 413) return 'payload_too_large';
  if (status === 429) return 'rate_limited';
  if (status === 408 || status === 409 || status === 425 || status === 499) return 'unavailable';
  return status >= 500 ? 'unavailable' : 'bad_request';
}

/**
 * The same text can blame the input or the output. An exact account that shows a prompt of at most a quarter of the
 * window is no overflow of the transcript: asking for less output cures it. One that shows a prompt over the window is.
 */
function inputOrOutput(kind: 'context_overflow' | 'output_limit', text: string): FailureKind {
  const prompt = statedPromptTokens(text);
  const window = statedWindow(text);
  if (prompt === null || window === null) return kind;
  if (
    kind === 'context_overflow' &&
    prompt > 0 &&
    prompt * 4 <= window &&
    /completion|output|max_\w*tokens|\d \+ \d/.test(text)
  )
    return 'output_limit';
  return kind === 'output_limit' && prompt >= window ? 'context_overflow' : kind;
}

function errorStatus({ status, inStream }: FailureEvidence, facts: ErrorFacts): number | null {
  const isErrorStatus = status !== null && (status < 200 || status > 299);
  return isErrorStatus ? status : (facts.status ?? (inStream ? null : status));
}

/** A chat completion that is no error, whatever its text talks about. */
function isAnswer(body: unknown): body is Readonly<Record<string, unknown>> {
  if (!isRecord(body)) return false;
  const hasError = body['error'] !== undefined && body['error'] !== null && body['error'] !== false;
  return !hasError && Array.isArray(body['choices']) && body['choices'].length > 0;
}

function conclude(kind: FailureKind, given: Case & { readonly evidence: FailureEvidence }): ClassifiedFailure {
  const { evidence, facts, text, status } = given;
  const contextTokens = learntTokens(kind, facts, text);
  const overBudget = kind === 'rate_limited' && isOverWholeBudget(text);
  const message = operatorMessage({
    kind,
    status,
    texts: facts.texts,
    contextTokens,
    isOverWholeBudget: overBudget,
    secrets: evidence.secrets ?? [],
  });
  const failure = failureOf(kind, message, {
    retryable: isRetryable(kind, status) && !overBudget,
    providerStatus: status,
    retryAfterMs: asksToWait(kind)
      ? retryAfterMs({
          headers: lowerCaseNames(evidence.headers),
          bodyMs: facts.retryAfterMs,
          text,
          nowMs: evidence.nowMs ?? null,
        })
      : null,
  });
  return {
    failure,
    learnt: contextTokens === null ? null : { contextTokens },
    ...(kind === 'bad_request' && rolesRefusal.test(text) && { asksForAlternatingRoles: true }),
  };
}

function learntTokens(kind: FailureKind, facts: ErrorFacts, text: string): number | null {
  if (kind === 'context_overflow') return plausibleWindow(facts.contextTokens) ?? statedWindow(text);
  return kind === 'output_limit'
    ? (statedContextLength(text) ?? (statedPromptTokens(text) === null ? null : statedWindow(text)))
    : null;
}

function isRetryable(kind: FailureKind, status: number | null): boolean {
  if (kind === 'unavailable') return status !== 501 && status !== 505;
  return kind === 'rate_limited' || kind === 'stalled' || kind === 'cut_off';
}

function asksToWait(kind: FailureKind): boolean {
  return kind === 'rate_limited' || kind === 'unavailable' || kind === 'quota_exhausted';
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
