/*
 * Compresses a transcript: plan, summary, acceptance, one append. Its border: when to compress is the turn's decision
 * or a person's; what a plan, a summary and an acceptable result are is the domain's.
 *
 * K1: nothing of the transcript changes before the rotation is committed (P9).
 * K2: each attempt has one `compression.started` and exactly one end, and each rung asks for one summary.
 * K3: what has nothing to summarise starts nothing, so that it opens no breaker for what comes behind it.
 * K4: a summary request never moves the turn's boundary: it does nothing that must not be done twice.
 */
import { isAcceptable } from '../domain/compression/acceptance.ts';
import { contextSize } from '../domain/compression/context-size.ts';
import type { RequestExtras } from '../domain/compression/context-size.ts';
import { keptTokens, planCompression } from '../domain/compression/plan.ts';
import type { CompressionPlan } from '../domain/compression/plan.ts';
import type { SummaryForm } from '../domain/compression/summary-request.ts';
import type { CompressionPolicy } from '../domain/compression/trigger.ts';
import type { CompressionTrigger } from '../domain/lineage/lineage.ts';
import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import { passes } from '../domain/model/outage.ts';
import { sumUsage } from '../domain/model/usage.ts';
import type { Usage } from '../domain/model/usage.ts';
import { addressOf } from '../domain/session/state.ts';
import type { SessionState } from '../domain/session/state.ts';
import { framedSummary } from '../domain/transcript/assemble.ts';
import { textDraft } from '../domain/transcript/message.ts';
import type { Message } from '../domain/transcript/message.ts';
import { messageOverheadTokens } from '../domain/transcript/tokens.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { ModelTarget } from '../ports/model-provider.ts';
import type { TokenCounter } from '../ports/token-counter.ts';
import { patiently } from './patient-reads.ts';
import { isTooLarge, requestSummary, stoppedFailure } from './request-summary.ts';
import type { SummaryDependencies } from './request-summary.ts';
import type { Sessions } from './sessions.ts';
import type { Transcripts } from './transcripts.ts';

export interface CompressInput {
  readonly sessionId: string;
  /** Of the turn that waits for it; null by hand. */
  readonly admissionId: string | null;
  readonly executionGeneration: number;
  readonly trigger: CompressionTrigger;
  readonly triggerTokens: number;
  readonly extras: RequestExtras;
  readonly promptPending: boolean;
  /** The model that could read the transcript so far: it summarises unless another is configured for that. */
  readonly target: ModelTarget;
  /** The session's model, when it is another one by now. */
  readonly newTarget?: ModelTarget;
  /** What the summary is to keep an eye on, and how many messages at the end stay: by hand. */
  readonly focus?: string | null;
  readonly keepLast?: number | null;
  readonly signal: AbortSignal;
}

export type CompressOutcome =
  | { readonly kind: 'compressed' }
  /**
   * The transcript is what it was; the turn goes on if its request fits. `noSummary`: it might have, had a model given a
   * summary that can be used.
   */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly noSummary: boolean }
  /** It was stopped or its turn is over, or the process is about to stop. */
  | { readonly kind: 'abandoned' };

export type Compress = (input: CompressInput) => Promise<CompressOutcome>;

/** Which request of a compression is about to be sent. */
export interface CompressionProgress {
  readonly sessionId: string;
  readonly admissionId: string | null;
  readonly executionGeneration: number;
  readonly compressionId: string;
  readonly rung: CompressionPlan['rung'];
  readonly model: string;
  readonly form: SummaryForm;
  /** Counts the requests of this compression from 1. */
  readonly request: number;
}

export interface CompressorDependencies extends SummaryDependencies {
  readonly sessions: Sessions;
  readonly transcripts: Transcripts;
  readonly tokens: TokenCounter;
  readonly ids: IdSource;
  readonly policy: CompressionPolicy;
  /** The model that summarises, when it isn't the session's. */
  readonly summaryTarget: ModelTarget | null;
  /** The models that are asked when one can't answer, in this order. */
  readonly fallbacksOf: (target: ModelTarget) => readonly ModelTarget[];
  readonly onProgress: (progress: CompressionProgress) => void;
}

export function makeCompressor(deps: CompressorDependencies): Compress {
  return async (input) => {
    const { sessionId, executionGeneration, trigger, extras, target, signal } = input;
    const state = await patiently(deps.clock, signal, () => deps.sessions.state(sessionId));
    if (state === null) return { kind: 'abandoned' };
    if (plansFor(deps.policy, state, input).length === 0) {
      return { kind: 'failed', failure: nothingToGain, noSummary: false };
    }
    const compressionId = deps.ids.next();
    const tokensBefore = contextSize(state, target, extras).localTokens;
    const started = await deps.sessions.send(sessionId, {
      kind: 'start_compression',
      compressionId,
      trigger,
      executionGeneration,
      tokensBefore,
    });
    if (started.kind !== 'done') return { kind: 'abandoned' };
    return finishCompression(deps, input, { compressionId, state, tokensBefore });
  };
}

/** A compression whose start is committed, with the state that it was planned on. */
export interface StartedCompression {
  readonly compressionId: string;
  readonly state: SessionState;
  readonly tokensBefore: number;
}

/** Brings a compression that has started to its end. */
export async function finishCompression(
  deps: CompressorDependencies,
  input: CompressInput,
  started: StartedCompression,
): Promise<CompressOutcome> {
  const { sessionId, executionGeneration, extras } = input;
  const { compressionId, tokensBefore } = started;
  const attempt = await summarise(deps, input, started);
  if (attempt.kind === 'accepted') {
    const { plan, summary, tokens, usage, model } = attempt;
    const rotated = await deps.sessions.send(sessionId, {
      kind: 'rotate',
      compressionId,
      executionGeneration,
      plan: { head: idsOf(plan.head), middle: idsOf(plan.middle), tail: idsOf(plan.tail) },
      childTranscript: deps.policy.inPlace ? null : deps.ids.next(),
      summary: textDraft({ role: 'user', kind: 'summary', text: summary, tokens, admissionId: null }),
      tokensBefore,
      tokensAfter: rebuiltTokens(plan, tokens, extras),
      model,
      usage,
    });
    if (rotated.kind === 'done') return { kind: 'compressed' };
    if (rotated.kind === 'unavailable') return { kind: 'abandoned' };
  }
  const failure = attempt.kind === 'accepted' ? stoppedFailure : attempt.failure;
  const stopped = failure.reason === 'aborted';
  await deps.sessions.send(sessionId, {
    kind: 'fail_compression',
    compressionId,
    failure,
    usage: attempt.usage,
    // What waits for a person is refused at once and costs nothing; when the person has come, nothing is to be waited for.
    opensBreaker: !stopped && input.trigger !== 'manual' && passes(failure) !== false,
  });
  if (stopped) return { kind: 'abandoned' };
  return { kind: 'failed', failure, noSummary: attempt.kind === 'failed' && attempt.noSummary };
}

/** The plans for a compression, most keeping first. */
export function plansFor(
  policy: CompressionPolicy,
  state: SessionState,
  input: Pick<CompressInput, 'triggerTokens' | 'extras' | 'promptPending' | 'keepLast'>,
): readonly CompressionPlan[] {
  const { extras, triggerTokens, promptPending, keepLast } = input;
  return planCompression({
    messages: state.messages,
    protectFirstN: policy.protectFirstN,
    protectLastN: keepLast ?? policy.protectLastN,
    triggerTokens,
    extraTokens: extras.systemTokens + extras.toolTokens + extras.promptTokens,
    promptPending,
  });
}

type Attempt =
  | {
      readonly kind: 'accepted';
      readonly plan: CompressionPlan;
      readonly summary: string;
      readonly tokens: number;
      readonly usage: Usage | null;
      readonly model: string;
    }
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      readonly usage: Usage | null;
      readonly noSummary: boolean;
    };

/** Goes down the rungs until a summary is good enough. */
async function summarise(
  deps: CompressorDependencies,
  input: CompressInput,
  { compressionId, state, tokensBefore: beforeTokens }: StartedCompression,
): Promise<Attempt> {
  const { sessionId, admissionId, executionGeneration, extras, signal } = input;
  const content = await contentOf(deps, state, signal);
  if (content === null) return { kind: 'failed', failure: stoppedFailure, usage: null, noSummary: false };
  let usage: Usage | null = null;
  let failure = nothingToGain;
  let requests = 0;
  for (const plan of plansFor(deps.policy, state, input)) {
    const { rung } = plan;
    const answer = await requestSummary(deps, {
      sessionId,
      signal,
      targets: targetsOf(deps.summaryTarget, input),
      fallbacks: deps.fallbacksOf(addressOf(state.profile)),
      middle: plan.middle.flatMap(({ id }) => content.get(id) ?? []),
      triggerTokens: input.triggerTokens,
      focus: input.focus ?? null,
      onRequest: (request) => {
        requests += 1;
        const about = { sessionId, admissionId, executionGeneration, compressionId };
        deps.onProgress({ ...about, ...request, rung, request: requests });
      },
    });
    usage = sumUsage(usage, answer.usage);
    if (answer.kind === 'failed') {
      return { kind: 'failed', failure: answer.failure, usage, noSummary: !isTooLarge(answer.failure) };
    }
    const tokens = ((await deps.tokens.count([framedSummary(answer.text)]))[0] ?? 0) + messageOverheadTokens;
    const afterTokens = rebuiltTokens(plan, tokens, extras);
    if (isAcceptable({ beforeTokens, afterTokens, boundTokens: plan.boundTokens })) {
      return { kind: 'accepted', plan, summary: answer.text, tokens, usage, model: answer.model };
    }
    failure = tooLittleGained(beforeTokens, afterTokens);
  }
  return { kind: 'failed', failure, usage, noSummary: false };
}

/** Null: it was stopped, and what came after it may have changed the transcript. */
async function contentOf(
  deps: CompressorDependencies,
  state: SessionState,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Message> | null> {
  try {
    const messages = await patiently(deps.clock, signal, () => deps.transcripts.read(state));
    return new Map(messages.map((message) => [message.id, message]));
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

/** The auxiliary model and then the one that could read the transcript; without an auxiliary one, that and the new one. */
function targetsOf(auxiliary: ModelTarget | null, { target, newTarget }: CompressInput): readonly ModelTarget[] {
  if (auxiliary !== null) return [auxiliary, target];
  return newTarget === undefined ? [target] : [target, newTarget];
}

function rebuiltTokens(plan: CompressionPlan, summaryTokens: number, extras: RequestExtras): number {
  return keptTokens(plan) + summaryTokens + extras.systemTokens + extras.toolTokens + extras.promptTokens;
}

function idsOf(messages: readonly { readonly id: number }[]): readonly number[] {
  return messages.map(({ id }) => id);
}

const nothingToGain = failureOf(
  'compression_failed',
  'Nothing can be summarised: the protected messages alone are too large for this model.',
);

function tooLittleGained(beforeTokens: number, afterTokens: number): Failure {
  const message = `A summary would leave ${String(afterTokens)} of ${String(beforeTokens)} tokens, which is not enough.`;
  return failureOf('compression_failed', message, { retryable: true });
}
