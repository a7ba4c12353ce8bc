import { triggerAfterOverflow } from '../domain/compression/trigger.ts';
import { invariant } from '../domain/invariant.ts';
import { breakerIsOpen } from '../domain/lineage/lineage.ts';
import type { Usage } from '../domain/model/usage.ts';
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
}

/**
 * Sends the request of one step. An overflow answer is met by one compression and a second try, before anything of the
 * step is stored; a second one ends the turn as `context_exhausted`. Null: the turn was stopped while compressing.
 */
export async function requestTurnStep(deps: TurnDependencies, request: TurnRequest): Promise<StepOutcome | null> {
  const { sessionId, context, signal } = request;
  for (let compressed = false; ; compressed = true) {
    const state = await deps.sessions.state(sessionId);
    invariant(state !== null, 'a running turn has a session');
    const outcome = await requestStep(
      deps,
      {
        target: context.target,
        system: context.systemPrompt,
        messages: assemble(await deps.transcripts.read(state)),
        tools: context.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
        maxOutputTokens: deps.maxOutputTokens,
        purpose: 'turn',
      },
      signal,
      request.listener(),
    );
    request.onUsage(outcome.usage);
    if (outcome.kind !== 'failed' || outcome.failure.reason !== 'context_overflow' || signal.aborted) return outcome;
    const size = context.size(state, 0);
    if (compressed || !deps.policy.enabled || breakerIsOpen(state.lineage, deps.clock.now())) {
      return { ...outcome, failure: context.exhausted(size, outcome.failure) };
    }
    const compression = await request.compress(triggerAfterOverflow(context.window.triggerTokens, size.localTokens));
    if (compression.kind === 'abandoned') return null;
    if (compression.kind === 'failed') return { ...outcome, failure: context.exhausted(size, compression.failure) };
  }
}
