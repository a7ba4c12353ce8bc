/*
 * Asks a model for one summary. Its border: what a request says and whether an answer counts is the domain's.
 *
 * A1: a request that doesn't fit is made smaller, at most twice; the same request is sent to one model once more at
 *     most, after a failure that passes by itself.
 * A2: when the first model fails, one other is asked, and then the fallbacks as they would be for a turn.
 * A3: no request takes longer than the deadline, and none outlives the compression's abort.
 */
import { whyNoSummary } from '../domain/compression/acceptance.ts';
import { summaryForms, summaryPrompt } from '../domain/compression/summary-request.ts';
import type { SummaryForm } from '../domain/compression/summary-request.ts';
import { fallsBack } from '../domain/model/fallback.ts';
import type { Failure, FailureKind } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import { withoutThinking } from '../domain/model/thinking.ts';
import { passes } from '../domain/model/outage.ts';
import { decideRetry } from '../domain/model/retry.ts';
import type { RetryPolicy } from '../domain/model/retry.ts';
import type { Usage } from '../domain/model/usage.ts';
import { sumUsage } from '../domain/model/usage.ts';
import type { Message } from '../domain/transcript/message.ts';
import { roughTokens } from '../domain/transcript/tokens.ts';
import type { Clock } from '../ports/clock.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import type { ModelCatalog } from '../ports/model-catalog.ts';
import type { ModelProvider, ModelTarget } from '../ports/model-provider.ts';
import type { LearnWindow } from './learnt-windows.ts';
import { requestStep } from './model-step.ts';
import type { StepOutcome } from './model-step.ts';

export interface SummaryDependencies {
  readonly provider: ModelProvider;
  readonly catalog: ModelCatalog;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
  readonly learnWindow: LearnWindow;
  /** How a request that failed in passing is tried again, and a random number from 0 to 1. */
  readonly retry: RetryPolicy;
  readonly jitter: () => number;
  /** The longest that one summary request may take, in milliseconds. */
  readonly summaryDeadlineMs: number;
  /** Takes the secrets that the gateway holds out of a text. */
  readonly mask: (text: string) => string;
}

export interface SummaryAsk {
  readonly sessionId: string;
  /** Whom to ask, in this order: the second only when the first fails. */
  readonly targets: readonly ModelTarget[];
  /** Whom to ask when none of those can answer. */
  readonly fallbacks: readonly ModelTarget[];
  readonly middle: readonly Message[];
  readonly triggerTokens: number;
  readonly focus: string | null;
  readonly signal: AbortSignal;
  /** Is called before each request. */
  readonly onRequest: (request: { readonly model: string; readonly form: SummaryForm }) => void;
}

export type Summary =
  | { readonly kind: 'summary'; readonly text: string; readonly usage: Usage | null; readonly model: string }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly usage: Usage | null };

export const stoppedFailure = failureOf('aborted', 'The compression was stopped before its summary was there.', {
  retryable: true,
});

export async function requestSummary(deps: SummaryDependencies, ask: SummaryAsk): Promise<Summary> {
  let usage: Usage | null = null;
  const refusals: Refusal[] = [];
  for (const [index, target] of distinct([...ask.targets, ...ask.fallbacks]).entries()) {
    const last = refusals.at(-1)?.failure;
    if (index >= distinct(ask.targets).length && last !== undefined && !fallsBack(last)) break;
    const answer = await askModel(deps, ask, target);
    usage = sumUsage(usage, answer.usage);
    if (answer.kind === 'summary' || ask.signal.aborted) return { ...answer, usage };
    refusals.push({ target, failure: answer.failure });
  }
  return { kind: 'failed', failure: ofAll(refusals), usage };
}

interface Refusal {
  readonly target: ModelTarget;
  readonly failure: Failure;
}

/** An outage counts before a failure of the request's own, and above all one that passes: then waiting helps. */
function ofAll(refusals: readonly Refusal[]): Failure {
  const failures = refusals.map(({ failure }) => failure);
  const counts = failures.find((one) => passes(one) === true) ?? failures.find((one) => passes(one) === false);
  const said = refusals.map(({ target, failure }) => `${target.provider}/${target.model}: ${failure.message}`);
  return { ...(counts ?? failures[0] ?? stoppedFailure), message: `There is no summary. ${said.join(' ')}` };
}

/** Asks one model, in smaller and smaller forms while the request doesn't fit. */
async function askModel(deps: SummaryDependencies, ask: SummaryAsk, target: ModelTarget): Promise<Summary> {
  let usage: Usage | null = null;
  let last: Summary = { kind: 'failed', failure: stoppedFailure, usage: null };
  for (const form of summaryForms) {
    const answer = await askTwice(deps, ask, target, form);
    usage = sumUsage(usage, answer.usage);
    last = { ...answer, usage };
    if (answer.kind === 'summary' || ask.signal.aborted || !isTooLarge(answer.failure)) break;
  }
  return last;
}

/** What is asked for once more. Not what has taken a whole deadline, nor an answer that can't be used. */
const inPassing: readonly FailureKind[] = ['rate_limited', 'unavailable', 'cut_off'];

async function askTwice(
  deps: SummaryDependencies,
  ask: SummaryAsk,
  target: ModelTarget,
  form: SummaryForm,
): Promise<Summary> {
  const { clock, retry, jitter } = deps;
  const startedMs = clock.monotonicMs();
  const first = await askOnce(deps, ask, target, form);
  if (first.kind === 'summary' || ask.signal.aborted || !inPassing.includes(first.failure.reason)) return first;
  const policy = { ...retry, maxAttempts: Math.min(retry.maxAttempts, 2) };
  const tries = { failure: first.failure, attempts: 1, elapsedMs: clock.monotonicMs() - startedMs, jitter: jitter() };
  const decision = decideRetry(policy, tries);
  if (decision.kind === 'give_up') return { ...first, failure: decision.failure };
  await clock.sleep(decision.delayMs, ask.signal);
  if (ask.signal.aborted) return { ...first, failure: stoppedFailure };
  const second = await askOnce(deps, ask, target, form);
  return { ...second, usage: sumUsage(first.usage, second.usage) };
}

/** Whether a request was refused for its size. */
export function isTooLarge({ reason }: Failure): boolean {
  return reason === 'context_overflow' || reason === 'payload_too_large';
}

/** Room for the instructions beside the middle, in tokens. */
const promptOverheadTokens = 1000;
/** What a request may fill of the model's window: the summary needs room too, and another tokenizer may count more. */
const roomShare = 0.75;
/** How long a summary is asked to be at most, as a share of the trigger; a word is taken for a token and a half. */
const summaryShare = 0.15;
const tokensPerWord = 1.5;
const [minWords, maxWords] = [100, 1500];

async function askOnce(
  deps: SummaryDependencies,
  ask: SummaryAsk,
  target: ModelTarget,
  form: SummaryForm,
): Promise<Summary> {
  const { signal, middle, triggerTokens, focus } = ask;
  const { contextTokens } = deps.catalog.limits(target);
  const roomTokens = Math.max(contextTokens * roomShare - promptOverheadTokens, contextTokens * 0.25);
  const { system, user } = summaryPrompt({
    middle,
    form,
    focus,
    maxTokens: Math.min(roomTokens, triggerTokens),
    maxWords: Math.min(maxWords, Math.max(minWords, Math.floor((summaryShare * triggerTokens) / tokensPerWord))),
    mask: deps.mask,
  });
  ask.onRequest({ model: target.model, form });
  const outcome = await withDeadline(deps, signal, (limited) =>
    requestStep(
      deps,
      {
        target,
        system,
        messages: [{ role: 'user', text: user, parts: null }],
        tools: [],
        maxOutputTokens: null,
        purpose: 'summary',
      },
      limited,
      null,
    ),
  );
  if (signal.aborted) return { kind: 'failed', failure: stoppedFailure, usage: outcome.usage };
  if (outcome.kind === 'failed') {
    await deps.learnWindow(ask.sessionId, target, outcome.learnt, roughTokens(system) + roughTokens(user));
    return { kind: 'failed', failure: outcome.failure, usage: outcome.usage };
  }
  const { finishReason, toolCalls, usage } = outcome;
  const text = withoutThinking(outcome.text);
  const failure = whyNoSummary({ text, finishReason, calledTools: toolCalls.length > 0 });
  return failure === null ? { kind: 'summary', text, usage, model: target.model } : { kind: 'failed', failure, usage };
}

/** Aborts what takes too long, and says that it did. */
async function withDeadline(
  { clock, summaryDeadlineMs }: Pick<SummaryDependencies, 'clock' | 'summaryDeadlineMs'>,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const limit = new AbortController();
  const answered = new AbortController();
  const abort = (): void => limit.abort();
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  let late = false;
  void clock.sleep(summaryDeadlineMs, answered.signal).then(() => {
    if (answered.signal.aborted) return;
    late = true;
    abort();
  });
  const outcome = await work(limit.signal);
  answered.abort();
  signal.removeEventListener('abort', abort);
  if (!late || outcome.kind === 'answered') return outcome;
  const message = `The summary was not there after ${String(Math.round(summaryDeadlineMs / 1000))} seconds.`;
  return { ...outcome, failure: failureOf('stalled', message, { retryable: true }) };
}

function distinct(targets: readonly ModelTarget[]): readonly ModelTarget[] {
  const isSame = (a: ModelTarget, b: ModelTarget): boolean =>
    a.provider === b.provider && a.model === b.model && a.baseUrl === b.baseUrl;
  return targets.filter((target, index) => targets.findIndex((other) => isSame(target, other)) === index);
}
