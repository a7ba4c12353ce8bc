/*
 * Compresses the transcript of a running turn: plan, summary, acceptance, one append. Its border: when to compress is
 * the turn's decision; what a plan, a summary and an acceptable result are is the domain's.
 *
 * K1: nothing of the transcript changes before the rotation is committed (P9).
 * K2: each attempt has one `compression.started` and exactly one end, and each rung asks for one summary.
 * K3: a summary request never moves the turn's boundary: it does nothing that must not be done twice.
 */
import { isAcceptable, whyNoSummary } from '../domain/compression/acceptance.ts';
import { contextSize } from '../domain/compression/context-size.ts';
import type { RequestExtras } from '../domain/compression/context-size.ts';
import { keptTokens, planCompression } from '../domain/compression/plan.ts';
import type { CompressionPlan } from '../domain/compression/plan.ts';
import { summaryPrompt } from '../domain/compression/summary-request.ts';
import type { CompressionPolicy } from '../domain/compression/trigger.ts';
import type { CompressionTrigger } from '../domain/lineage/lineage.ts';
import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import type { Usage } from '../domain/model/usage.ts';
import { addUsage } from '../domain/model/usage.ts';
import type { SessionState } from '../domain/session/state.ts';
import { framedSummary } from '../domain/transcript/assemble.ts';
import { textDraft } from '../domain/transcript/message.ts';
import type { Message } from '../domain/transcript/message.ts';
import { messageOverheadTokens } from '../domain/transcript/tokens.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { ModelCatalog } from '../ports/model-catalog.ts';
import type { ModelProvider, ModelTarget } from '../ports/model-provider.ts';
import type { TokenCounter } from '../ports/token-counter.ts';
import { requestStep } from './model-step.ts';
import type { Sessions } from './sessions.ts';
import type { Transcripts } from './transcripts.ts';

export interface CompressInput {
  readonly sessionId: string;
  readonly executionGeneration: number;
  readonly trigger: CompressionTrigger;
  readonly triggerTokens: number;
  readonly extras: RequestExtras;
  readonly promptPending: boolean;
  /** The session's model: it summarises too unless another is configured for that. */
  readonly target: ModelTarget;
  readonly signal: AbortSignal;
}

export type CompressOutcome =
  | { readonly kind: 'compressed' }
  /** The transcript is what it was; the turn goes on if its request fits. */
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** The turn was stopped or is over, or the process is about to stop. */
  | { readonly kind: 'abandoned' };

export type Compress = (input: CompressInput) => Promise<CompressOutcome>;

export interface CompressorDependencies {
  readonly sessions: Sessions;
  readonly transcripts: Transcripts;
  readonly provider: ModelProvider;
  readonly catalog: ModelCatalog;
  readonly tokens: TokenCounter;
  readonly ids: IdSource;
  readonly failpoints: Failpoints;
  readonly policy: CompressionPolicy;
  /** The model that summarises, when it isn't the session's. */
  readonly summaryTarget: ModelTarget | null;
}

export function makeCompressor(deps: CompressorDependencies): Compress {
  return async (input) => {
    const { sessionId, executionGeneration, trigger, extras } = input;
    const state = await deps.sessions.state(sessionId);
    if (state === null) return { kind: 'abandoned' };
    const compressionId = deps.ids.next();
    const tokensBefore = contextSize(state, extras).localTokens;
    const started = await deps.sessions.send(sessionId, {
      kind: 'start_compression',
      compressionId,
      trigger,
      executionGeneration,
      tokensBefore,
    });
    if (started.kind !== 'done') return { kind: 'abandoned' };

    const attempt = await summarise(deps, input, state, tokensBefore);
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
    const opensBreaker = failure.reason !== 'aborted';
    await deps.sessions.send(sessionId, {
      kind: 'fail_compression',
      compressionId,
      failure,
      usage: attempt.usage,
      opensBreaker,
    });
    return opensBreaker ? { kind: 'failed', failure } : { kind: 'abandoned' };
  };
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
  | { readonly kind: 'failed'; readonly failure: Failure; readonly usage: Usage | null };

/** Goes down the rungs until a summary is good enough. */
async function summarise(
  deps: CompressorDependencies,
  input: CompressInput,
  state: SessionState,
  beforeTokens: number,
): Promise<Attempt> {
  const { protectFirstN, protectLastN } = deps.policy;
  const { triggerTokens, promptPending, extras } = input;
  const extraTokens = extras.systemTokens + extras.toolTokens + extras.promptTokens;
  const plans = planCompression({
    messages: state.messages,
    protectFirstN,
    protectLastN,
    triggerTokens,
    extraTokens,
    promptPending,
  });
  const content = new Map((await deps.transcripts.read(state)).map((message) => [message.id, message]));
  let usage: Usage | null = null;
  let failure = nothingToGain;
  for (const plan of plans) {
    const middle = plan.middle.flatMap(({ id }) => content.get(id) ?? []);
    const answer = await requestSummary(deps, input, middle);
    usage = usage === null || answer.usage === null ? (usage ?? answer.usage) : addUsage(usage, answer.usage);
    if (answer.kind === 'failed') return { kind: 'failed', failure: answer.failure, usage };
    const tokens = ((await deps.tokens.count([framedSummary(answer.text)]))[0] ?? 0) + messageOverheadTokens;
    const afterTokens = rebuiltTokens(plan, tokens, extras);
    if (isAcceptable({ beforeTokens, afterTokens, boundTokens: plan.boundTokens })) {
      return { kind: 'accepted', plan, summary: answer.text, tokens, usage, model: answer.model };
    }
    failure = tooLittleGained(beforeTokens, afterTokens);
  }
  return { kind: 'failed', failure, usage };
}

type Summary =
  | { readonly kind: 'summary'; readonly text: string; readonly usage: Usage | null; readonly model: string }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly usage: Usage | null };

/** Asks the auxiliary model, and once more the session's own when the auxiliary one fails. */
async function requestSummary(
  deps: CompressorDependencies,
  input: CompressInput,
  middle: readonly Message[],
): Promise<Summary> {
  const { target, signal } = input;
  const auxiliary = deps.summaryTarget ?? target;
  const first = await askOnce(deps, auxiliary, middle, input);
  if (first.kind === 'summary' || signal.aborted || isSameTarget(auxiliary, target)) return first;
  return askOnce(deps, target, middle, input);
}

/** Room for the instructions and the answer beside the middle, in tokens. */
const promptOverheadTokens = 1000;

async function askOnce(
  deps: CompressorDependencies,
  target: ModelTarget,
  middle: readonly Message[],
  input: CompressInput,
): Promise<Summary> {
  const { signal } = input;
  const { contextTokens } = deps.catalog.limits(target);
  const roomTokens = Math.max(contextTokens * 0.75 - promptOverheadTokens, contextTokens * 0.25);
  const maxTokens = Math.min(roomTokens, input.triggerTokens);
  const { system, user } = summaryPrompt({ middle, maxTokens, focus: null });
  const outcome = await requestStep(
    deps,
    {
      target,
      system,
      messages: [{ role: 'user', text: user, parts: null }],
      tools: [],
      maxOutputTokens: null,
      purpose: 'summary',
    },
    signal,
    null,
  );
  if (signal.aborted) return { kind: 'failed', failure: stoppedFailure, usage: outcome.usage };
  if (outcome.kind === 'failed') return outcome;
  const { text, finishReason, toolCalls, usage } = outcome;
  const failure = whyNoSummary({ text, finishReason, calledTools: toolCalls.length > 0 });
  return failure === null ? { kind: 'summary', text, usage, model: target.model } : { kind: 'failed', failure, usage };
}

function rebuiltTokens(plan: CompressionPlan, summaryTokens: number, extras: RequestExtras): number {
  return keptTokens(plan) + summaryTokens + extras.systemTokens + extras.toolTokens + extras.promptTokens;
}

function idsOf(messages: readonly { readonly id: number }[]): readonly number[] {
  return messages.map(({ id }) => id);
}

function isSameTarget(a: ModelTarget, b: ModelTarget): boolean {
  return a.provider === b.provider && a.model === b.model && a.baseUrl === b.baseUrl;
}

const stoppedFailure = failureOf('aborted', 'The turn was stopped while its transcript was being compressed.');
const nothingToGain = failureOf(
  'compression_failed',
  'Nothing can be summarised: the protected messages alone are too large for this model.',
);

function tooLittleGained(beforeTokens: number, afterTokens: number): Failure {
  const message = `A summary would leave ${String(afterTokens)} of ${String(beforeTokens)} tokens, which is not enough.`;
  return failureOf('compression_failed', message, { retryable: true });
}
