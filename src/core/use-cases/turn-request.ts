import { triggerAfterOverflow } from '../domain/compression/trigger.ts';
import { invariant } from '../domain/invariant.ts';
import type { Placeholders } from '../domain/compression/placeholders.ts';
import { openBreaker } from '../domain/lineage/lineage.ts';
import { decideRetry } from '../domain/model/retry.ts';
import type { Usage } from '../domain/model/usage.ts';
import type { SessionState } from '../domain/session/state.ts';
import { assemble } from '../domain/transcript/assemble.ts';
import type { CompressOutcome } from './compressor.ts';
import { requestStep } from './model-step.ts';
import type { StepListener, StepOutcome } from './model-step.ts';
import type { TurnContext } from './turn-context.ts';
import type { TurnDependencies } from './turn.ts';

export interface TurnRequest {
  readonly sessionId: string;
  readonly context: TurnContext;
  readonly signal: AbortSignal;
  /** Called for every try: what an earlier one said is void. */
  readonly listener: () => StepListener;
  readonly compress: (triggerTokens: number) => Promise<CompressOutcome>;
  readonly onUsage: (usage: Usage | null) => void;
  /** What the request that is sent now leaves out: a report of its size is of what is left. */
  readonly onSent: (placeholders: Placeholders) => void;
}

/**
 * Sends the request of one step, until there is an answer or no hope of one.
 *
 * An overflow answer is met by one compression, before anything of the step is stored; a second one ends the turn as
 * `context_exhausted`. What may pass by itself is tried again as the retry policy says: nothing of a failed try is
 * stored, so the prompt is in the transcript once however often it is sent. Null: the turn was stopped while
 * compressing.
 */
export async function requestTurnStep(deps: TurnDependencies, request: TurnRequest): Promise<StepOutcome | null> {
  const { context, signal } = request;
  const startedMs = deps.clock.monotonicMs();
  let compressed = false;
  for (let attempts = 1; ; attempts += 1) {
    const state = await stateOf(deps, request);
    const { placeholders } = context.outlook(state, 0, deps.clock.now());
    const outcome = await requestOnce(deps, request, state, placeholders);
    request.onUsage(outcome.usage);
    if (outcome.kind !== 'failed' || signal.aborted) return outcome;
    await deps.learnWindow(request.sessionId, context.target, outcome.learnt);
    if (outcome.failure.reason === 'context_overflow') {
      const tokens = context.size(state, 0).tokens - placeholders.savedTokens;
      const localTokens = context.size(state, 0).localTokens - placeholders.savedTokens;
      if (compressed || !mayCompress(deps, state)) {
        return { ...outcome, failure: context.exhausted(tokens, outcome.failure) };
      }
      const compression = await request.compress(triggerAfterOverflow(context.window.triggerTokens, localTokens));
      if (compression.kind === 'abandoned') return null;
      if (compression.kind === 'failed') return { ...outcome, failure: context.exhausted(tokens, compression.failure) };
      compressed = true;
      continue;
    }
    const elapsedMs = deps.clock.monotonicMs() - startedMs;
    const decision = decideRetry(deps.retry, { failure: outcome.failure, attempts, elapsedMs, jitter: deps.jitter() });
    if (decision.kind === 'give_up') return { ...outcome, failure: decision.failure };
    await deps.clock.sleep(decision.delayMs, signal);
    if (signal.aborted) return outcome;
  }
}

/** A breaker that opened because compressions came too often lets one pass that can't wait. */
function mayCompress(deps: TurnDependencies, state: SessionState): boolean {
  return deps.policy.enabled && openBreaker(state.lineage, deps.clock.now()) !== 'failed';
}

async function stateOf(deps: TurnDependencies, { sessionId }: TurnRequest): Promise<SessionState> {
  const state = await deps.sessions.state(sessionId);
  invariant(state !== null, 'a running turn has a session');
  return state;
}

async function requestOnce(
  deps: TurnDependencies,
  request: TurnRequest,
  state: SessionState,
  placeholders: Placeholders,
): Promise<StepOutcome> {
  const { context, signal } = request;
  request.onSent(placeholders);
  return requestStep(
    deps,
    {
      target: context.target,
      system: context.systemPrompt,
      messages: assemble(await deps.transcripts.read(state), placeholders.ids),
      tools: context.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
      maxOutputTokens: deps.maxOutputTokens,
      purpose: 'turn',
    },
    signal,
    request.listener(),
  );
}
