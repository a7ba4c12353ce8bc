import { invariant } from '../domain/invariant.ts';
import type { Placeholders } from '../domain/compression/placeholders.ts';
import type { Failure } from '../domain/model/failure.ts';
import { fallsBack } from '../domain/model/fallback.ts';
import { seemsTruncated } from '../domain/model/input-truncation.ts';
import type { OutputLimit } from '../domain/model/output-limit.ts';
import { decideRetry } from '../domain/model/retry.ts';
import type { Usage } from '../domain/model/usage.ts';
import type { SessionState } from '../domain/session/state.ts';
import { assemble } from '../domain/transcript/assemble.ts';
import type { CompressOutcome } from './compressor.ts';
import { requestStep } from './model-step.ts';
import type { StepListener, StepOutcome } from './model-step.ts';
import { RequestCures } from './request-cures.ts';
import type { TurnContext } from './turn-context.ts';
import type { TurnDependencies } from './turn-dependencies.ts';

export interface TurnRequest {
  readonly sessionId: string;
  readonly context: TurnContext;
  readonly signal: AbortSignal;
  /** Called for every try: what an earlier one said is void. */
  readonly listener: () => StepListener;
  readonly compress: (triggerTokens: number) => Promise<CompressOutcome>;
  readonly onUsage: (usage: Usage | null) => void;
  /** Goes over to the next model that is configured for this case, for the rest of the turn. Null: there is none. */
  readonly fallBack: (state: SessionState, cause: Failure) => TurnContext | null;
  /** What the request that is sent now leaves out: a report of its size is of what is left. */
  readonly onSent: (placeholders: Placeholders) => void;
}

/**
 * Sends the request of one step, until there is an answer or no hope of one.
 *
 * What a provider refuses for what it is, an overflow above all, is met by the cures, before anything of the step is
 * stored; an overflow that is left ends the turn as `context_exhausted`. What may pass by itself is tried again as the
 * retry policy says: nothing of a failed try is stored, so the prompt is in the transcript once however often it is sent.
 * When that is over and nobody has heard anything of the step, the next model of the fallback chain is asked. Null: the
 * turn was stopped while compressing.
 */
export async function requestTurnStep(deps: TurnDependencies, request: TurnRequest): Promise<StepOutcome | null> {
  const { signal } = request;
  const heard = { anything: false };
  let { context } = request;
  const cures = new RequestCures(deps, request.compress);
  let startedMs = deps.clock.monotonicMs();
  let first: Failure | null = null;
  for (let attempts = 1; ; attempts += 1) {
    const state = await stateOf(deps, request);
    const { placeholders, size } = context.outlook(state, 0, deps.clock.now());
    const output = cures.shorter ?? context.output(size);
    const listener = listening(request, heard);
    const { leftOut } = cures;
    const outcome = await requestOnce(deps, { request, context, output, state, placeholders, leftOut, listener });
    request.onUsage(outcome.usage);
    if (outcome.kind === 'answered') {
      // Of the two counts the smaller one: what was surely read.
      deps.accepted.saw(context.target, Math.min(outcome.usage?.inputTokens ?? 0, size.localTokens));
      warnOfTruncation(deps, { ...request, context }, size.localTokens, outcome.usage);
      return outcome;
    }
    if (signal.aborted) return outcome;
    const sentTokens = size.tokens + (output.maxOutputTokens ?? 0);
    await deps.learnWindow(request.sessionId, context.target, outcome.learnt, sentTokens);
    const cure = await cures.find({ state, context, size, output, failure: outcome.failure });
    if (cure === 'stopped') return null;
    if (cure === 'again') continue;
    if (cure !== null) return { ...outcome, failure: cure };
    const elapsedMs = deps.clock.monotonicMs() - startedMs;
    const decision = decideRetry(deps.retry, { failure: outcome.failure, attempts, elapsedMs, jitter: deps.jitter() });
    if (decision.kind === 'give_up') {
      const mayFallBack = !heard.anything && fallsBack(decision.failure);
      const next = mayFallBack ? request.fallBack(state, decision.failure) : null;
      if (next === null) return { ...outcome, failure: ofChain(first, decision.failure) };
      first ??= decision.failure;
      context = next;
      startedMs = deps.clock.monotonicMs();
      attempts = 0;
      cures.forget();
      continue;
    }
    await deps.clock.sleep(decision.delayMs, signal);
    if (signal.aborted) return outcome;
  }
}

/** The answer stands: nobody can tell what it was made without. An operator can give the model the window that it runs with. */
function warnOfTruncation(deps: TurnDependencies, request: TurnRequest, sentTokens: number, usage: Usage | null): void {
  const readTokens = usage?.inputTokens ?? null;
  if (!seemsTruncated(sentTokens, readTokens)) return;
  deps.logger.warn('the provider has read much less than was sent; its window may be smaller than the known one', {
    sessionId: request.sessionId,
    model: request.context.target.model,
    sentTokens,
    readTokens,
  });
}

/** The session's own model counts: its failure says when the next try makes sense, and the last one is told with it. */
function ofChain(first: Failure | null, last: Failure): Failure {
  return first === null
    ? last
    : { ...first, message: `${first.message} The last fallback failed too: ${last.message}` };
}

function listening({ listener }: TurnRequest, heard: { anything: boolean }): StepListener {
  const inner = listener();
  return {
    text(chunk) {
      heard.anything = true;
      inner.text(chunk);
    },
    reasoning(chunk) {
      heard.anything = true;
      inner.reasoning(chunk);
    },
  };
}

async function stateOf(deps: TurnDependencies, { sessionId }: TurnRequest): Promise<SessionState> {
  const state = await deps.sessions.state(sessionId);
  invariant(state !== null, 'a running turn has a session');
  return state;
}

interface Try {
  readonly request: TurnRequest;
  readonly context: TurnContext;
  readonly output: OutputLimit;
  readonly state: SessionState;
  readonly placeholders: Placeholders;
  /** The messages whose images and files are named and not sent. */
  readonly leftOut: ReadonlySet<number>;
  readonly listener: StepListener;
}

async function requestOnce(deps: TurnDependencies, given: Try): Promise<StepOutcome> {
  const { request, context, output, state, placeholders, leftOut, listener } = given;
  request.onSent(placeholders);
  return requestStep(
    deps,
    {
      target: context.target,
      system: context.systemPrompt,
      messages: assemble(
        await deps.transcripts.read(state),
        { ...context.target, takes: context.takes },
        new Set([...placeholders.ids, ...leftOut]),
      ),
      tools: context.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
      ...output,
      purpose: 'turn',
    },
    request.signal,
    listener,
  );
}
