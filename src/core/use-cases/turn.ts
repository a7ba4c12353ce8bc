/*
 * One turn of one session, from the claim to the settlement: preflight, dispatch, steps, end. Its border: it changes
 * the session only by commands, and asks for compressions without knowing how they are made.
 *
 * T1: the boundary `model` is durable, with the prompt's message, before the first request is sent (P4).
 * T2: an overflow is answered by one compression a step, before anything of the step is stored.
 * T3: whatever happens, the turn ends by `settle`, unless the process stops or another owner has taken over.
 * T4: a turn that can't fit fails with `context_exhausted` and says what fills the window. Where it could fit and only
 *     its summary can't be had, it fails for that reason: nothing but its own size burns a prompt.
 */
import type { Admission } from '../domain/admission/admission.ts';
import { invariant } from '../domain/invariant.ts';
import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import type { Usage } from '../domain/model/usage.ts';
import { sumUsage } from '../domain/model/usage.ts';
import type { PreparedFor } from '../domain/session/commands.ts';
import { addressOf, waitingSteers } from '../domain/session/state.ts';
import type { SessionState } from '../domain/session/state.ts';
import { hasMedia } from '../domain/transcript/older-media.ts';
import type { MessageDraft } from '../domain/transcript/message.ts';
import type { ModelTarget } from '../ports/model-provider.ts';
import { answerDraft } from './answer-draft.ts';
import type { Said } from './answer-draft.ts';
import type { CompressOutcome } from './compressor.ts';
import type { StepOutcome } from './model-step.ts';
import { withPatientReads } from './patient-reads.ts';
import { readPrompt, readSteers } from './read-prompt.ts';
import { runToolStep } from './tool-step.ts';
import { makeTurnContext, readTools } from './turn-context.ts';
import type { Outlook, TurnContext } from './turn-context.ts';
import type { TurnDependencies, TurnProgress } from './turn-dependencies.ts';
import { broken, endingAfter, endingOf, interrupted, tooLarge } from './turn-ending.ts';
import type { Ending, Over } from './turn-ending.ts';
import { requestTurnStep } from './turn-request.ts';

export async function runTurn(
  deps: TurnDependencies,
  state: SessionState,
  head: Admission,
  signal: AbortSignal,
  progress: TurnProgress,
): Promise<void> {
  const tools = await readTools(deps, state, progress.lookup);
  const context = makeTurnContext(deps, state, tools);
  const fallbacks = deps.fallbacksOf(context.target).map((target) => makeTurnContext(deps, state, tools, target));
  const turn = new Turn(
    withPatientReads(deps, () => progress.stopped),
    { state, head, context, fallbacks, signal, progress },
  );
  await turn.run();
}

interface TurnParts {
  /** The session's, when the turn is got ready. */
  readonly state: SessionState;
  readonly head: Admission;
  readonly context: TurnContext;
  readonly fallbacks: readonly TurnContext[];
  readonly signal: AbortSignal;
  readonly progress: TurnProgress;
}

class Turn {
  readonly #deps: TurnDependencies;
  readonly #sessionId: string;
  readonly #head: Admission;
  readonly #preparedFor: PreparedFor;
  readonly #signal: AbortSignal;
  readonly #progress: TurnProgress;
  /** The model that answers at present, and those that are left to be asked when it can't. */
  #context: TurnContext;
  #fallbacks: readonly TurnContext[];
  #generation = 0;
  #step = 1;
  #usage: Usage | null = null;
  #promptHasMedia = false;
  /** What the newest request left out of the transcript, in tokens. */
  #savedTokens = 0;

  constructor(deps: TurnDependencies, parts: TurnParts) {
    const { sessionId, profile, lineage } = parts.state;
    this.#deps = deps;
    this.#sessionId = sessionId;
    this.#head = parts.head;
    this.#preparedFor = {
      revision: parts.head.revision,
      model: addressOf(profile),
      compressions: lineage.compressions,
    };
    this.#context = parts.context;
    this.#fallbacks = parts.fallbacks;
    this.#signal = parts.signal;
    this.#progress = parts.progress;
  }

  async run(): Promise<void> {
    const ending = await this.#open().catch((error: unknown) =>
      endingAfter(error, this.#progress.stopped, this.#generation > 0),
    );
    if (ending !== null) await this.#settle(ending);
  }

  /** Claims the head and gets its prompt ready to be sent. */
  async #open(): Promise<Ending | Over> {
    const prompt = await readPrompt(this.#deps, this.#head);
    if ('reason' in prompt) return (await this.#claim(null)) ? broken(prompt) : null;
    this.#promptHasMedia = hasMedia(prompt);
    const { due, failure } = await this.#outlook(prompt.tokens);
    if (failure !== null) return (await this.#claim(null)) ? broken(failure) : null;
    if (!due) return (await this.#claim(prompt)) ? this.#steps() : null;
    if (!(await this.#claim(null))) return null;
    const larger = this.#context.largerModel(await this.#state());
    return (await this.#preflight(prompt.tokens, larger)) ?? this.#dispatch(prompt);
  }

  async #claim(prompt: MessageDraft | null): Promise<boolean> {
    const { admissionId } = this.#head;
    const command = { kind: 'claim', admissionId, prompt, preparedFor: this.#preparedFor } as const;
    const sent = await this.#deps.sessions.send(this.#sessionId, command);
    if (sent.kind !== 'done') return false;
    this.#generation = sent.reply.executionGeneration;
    this.#progress.claimed(this.#generation);
    return true;
  }

  async #dispatch(prompt: MessageDraft): Promise<Ending | Over> {
    const executionGeneration = this.#generation;
    const sent = await this.#deps.sessions.send(this.#sessionId, { kind: 'dispatch', executionGeneration, prompt });
    return sent.kind === 'done' ? this.#steps() : endingOf(sent, null);
  }

  /** Whether the next request needs a compression first, and whether it can be sent at all without one. */
  async #outlook(promptTokens: number): Promise<Outlook> {
    return this.#context.outlook(await this.#state(), promptTokens, this.#deps.clock.now());
  }

  /**
   * Compresses before a request, with the `larger` model when the session has just moved to a smaller one. Null: the
   * request may be sent.
   */
  async #preflight(promptTokens: number, larger: ModelTarget | null = null): Promise<Ending | null> {
    const { triggerTokens } = this.#context.window;
    const trigger = larger === null ? 'preflight' : 'downshift';
    const outcome = await this.#compress(trigger, triggerTokens, promptTokens, larger);
    if (outcome.kind === 'abandoned') return interrupted(null);
    const { failure, size } = await this.#outlook(promptTokens);
    if (outcome.kind === 'compressed' || !this.#context.overflows(size))
      return failure === null ? null : broken(failure);
    const { lineage } = await this.#state();
    return broken(this.#context.uncompressed(size, outcome, lineage, this.#deps.clock.now()));
  }

  async #steps(): Promise<Ending | Over> {
    for (; this.#step <= this.#deps.maxSteps; this.#step += 1) {
      const outcome = await this.#request();
      if (outcome === null) return interrupted(null);
      if (outcome.kind === 'failed') return this.#failedStep(outcome);
      const answer = await this.#draftOf(outcome);
      if (this.#signal.aborted) return interrupted(answer);
      if (outcome.toolCalls.length === 0) return { outcome: 'completed', answer, failure: null };
      const ending = await this.#answerTools(answer);
      if (ending !== 'next') return ending;
    }
    return broken(failureOf('max_steps', `The turn did not end within ${String(this.#deps.maxSteps)} steps.`));
  }

  #request(): Promise<StepOutcome | null> {
    this.#progress.activity('model', this.#step);
    return requestTurnStep(this.#deps, {
      sessionId: this.#sessionId,
      context: this.#context,
      signal: this.#signal,
      listener: () => this.#progress.listener(this.#step),
      compress: (triggerTokens) => this.#compress('overflow', triggerTokens, 0, null),
      onSent: ({ savedTokens }) => {
        this.#savedTokens = savedTokens;
      },
      onUsage: (usage) => {
        this.#usage = sumUsage(this.#usage, usage);
      },
      fallBack: (state, cause) => this.#fallBack(state, cause),
    });
  }

  /** Stays with the next model whose window holds the request, for the rest of the turn. */
  #fallBack(state: SessionState, cause: Failure): TurnContext | null {
    const index = this.#fallbacks.findIndex((context) => !context.overflows(context.size(state, 0)));
    const next = this.#fallbacks[index];
    if (next === undefined) return null;
    const [from, to] = [this.#context, next].map(({ target }) => `${target.provider}/${target.model}`);
    this.#deps.logger.warn('a model cannot answer; the next one of its fallbacks is asked', {
      sessionId: this.#sessionId,
      admissionId: this.#head.admissionId,
      from,
      to,
      reason: cause.reason,
      cause: cause.message,
    });
    this.#fallbacks = this.#fallbacks.slice(index + 1);
    this.#context = next;
    return next;
  }

  async #failedStep(outcome: StepOutcome & { kind: 'failed' }): Promise<Ending> {
    const { text, usage, failure } = outcome;
    const said = { text, usage, parts: null, toolCalls: [], finishReason: 'failed' };
    const answer = text === '' ? null : await this.#draftOf(said);
    return this.#signal.aborted ? interrupted(answer) : { outcome: 'failed', answer, failure };
  }

  /** Journals and runs the calls of a step, and gets the next request ready. */
  async #answerTools(answer: MessageDraft): Promise<Ending | Over | 'next'> {
    this.#progress.activity('tools', this.#step);
    const sent = await runToolStep(this.#deps, {
      sessionId: this.#sessionId,
      admissionId: this.#head.admissionId,
      executionGeneration: this.#generation,
      step: this.#step,
      answer,
      available: this.#context.tools,
      contextTokens: this.#wholeContext(answer),
      signal: this.#signal,
    });
    if (sent.kind !== 'done') return endingOf(sent, answer);
    if (this.#signal.aborted) return interrupted(null);
    const steered = await this.#mergeSteers();
    if (steered !== 'next') return steered;
    const { due, failure } = await this.#outlook(0);
    if (failure !== null) return broken(failure);
    return due ? ((await this.#preflight(0)) ?? 'next') : 'next';
  }

  /**
   * Puts what waits for this turn behind the results of its step, in as many appends as its size asks for. The last step
   * is followed by none, so it takes none.
   */
  async #mergeSteers(): Promise<Ending | Over | 'next'> {
    let waiting = this.#step < this.#deps.maxSteps ? waitingSteers(await this.#state()) : [];
    const executionGeneration = this.#generation;
    while (waiting.length > 0) {
      const { steers, rest } = await readSteers(this.#deps, waiting, this.#head.admissionId);
      waiting = rest;
      if (steers.length === 0) continue;
      const command = { kind: 'merge_steers', executionGeneration, steers, step: this.#step } as const;
      const sent = await this.#deps.sessions.send(this.#sessionId, command);
      if (sent.kind !== 'done') return endingOf(sent, null);
    }
    return 'next';
  }

  #draftOf(said: Said): Promise<MessageDraft> {
    const { admissionId } = this.#head;
    return answerDraft(this.#deps.tokens, said, { admissionId, target: this.#context.target });
  }

  async #settle(ending: Ending): Promise<void> {
    this.#progress.activity('settling', this.#step);
    const sent = await this.#deps.sessions.send(this.#sessionId, {
      kind: 'settle',
      executionGeneration: this.#generation,
      step: this.#step,
      usage: this.#usage,
      holdOnOutage: this.#deps.onOutage === 'hold',
      promptHasMedia: this.#promptHasMedia,
      contextTokens: ending.outcome === 'completed' ? this.#wholeContext(ending.answer) : null,
      ...ending,
    });
    const isTooLarge = sent.kind === 'refused' && sent.refusal.reason === 'too_large';
    if (isTooLarge && ending.answer !== null) await this.#settle(broken(tooLarge)); // without it
  }

  #compress(
    trigger: 'preflight' | 'overflow' | 'downshift',
    triggerTokens: number,
    promptTokens: number,
    larger: ModelTarget | null,
  ): Promise<CompressOutcome> {
    this.#progress.activity('compressing', this.#step);
    return this.#deps.compress({
      sessionId: this.#sessionId,
      admissionId: this.#head.admissionId,
      executionGeneration: this.#generation,
      trigger,
      triggerTokens,
      extras: this.#context.extras(promptTokens),
      promptPending: promptTokens > 0,
      target: larger ?? this.#context.target,
      ...(larger === null ? {} : { newTarget: this.#context.target }),
      signal: this.#signal,
    });
  }

  async #state(): Promise<SessionState> {
    const state = await this.#deps.sessions.state(this.#sessionId);
    invariant(state !== null, 'a turn has a session');
    return state;
  }

  /** The reported size of the context with what the request left out of it, so that reports can be compared. */
  #wholeContext(answer: MessageDraft | null): number | null {
    const reported = answer === null ? null : this.#context.reported(answer);
    return reported === null ? null : reported + this.#savedTokens;
  }
}
