/*
 * One turn of one session, from the claim to the settlement: preflight, dispatch, steps, end. Its border: it changes
 * the session only by commands, and asks for compressions without knowing how they are made.
 *
 * T1: the boundary `model` is durable, with the prompt's message, before the first request is sent (P4).
 * T2: an overflow is answered by one compression a step, before anything of the step is stored.
 * T3: whatever happens, the turn ends by `settle`, unless the process stops or another owner has taken over.
 * T4: a turn that can't fit fails with `context_exhausted` and says what fills the window.
 */
import type { Admission } from '../domain/admission/admission.ts';
import type { CompressionPolicy } from '../domain/compression/trigger.ts';
import { invariant } from '../domain/invariant.ts';
import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import type { RetryPolicy } from '../domain/model/retry.ts';
import type { Usage } from '../domain/model/usage.ts';
import { sumUsage } from '../domain/model/usage.ts';
import type { PreparedFor } from '../domain/session/commands.ts';
import { addressOf, waitingSteers } from '../domain/session/state.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { MessageDraft } from '../domain/transcript/message.ts';
import { messageOverheadTokens } from '../domain/transcript/tokens.ts';
import type { Clock } from '../ports/clock.ts';
import type { Digest } from '../ports/digest.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Logger } from '../ports/logger.ts';
import type { ModelCatalog } from '../ports/model-catalog.ts';
import type { ModelProvider, ModelTarget } from '../ports/model-provider.ts';
import type { TokenCounter } from '../ports/token-counter.ts';
import type { ToolHost } from '../ports/tool-host.ts';
import type { Approvals } from './approval-desk.ts';
import type { Compress, CompressOutcome } from './compressor.ts';
import type { LearnWindow } from './learnt-windows.ts';
import type { RunningTurn } from './gateway-status.ts';
import type { StepListener, StepOutcome } from './model-step.ts';
import { readPrompt } from './read-prompt.ts';
import type { Sessions } from './sessions.ts';
import { runToolStep } from './tool-step.ts';
import type { ApprovalRules } from './tool-step.ts';
import type { Transcripts } from './transcripts.ts';
import { makeTurnContext, readTools } from './turn-context.ts';
import type { Outlook, TurnContext } from './turn-context.ts';
import { requestTurnStep } from './turn-request.ts';

export interface TurnDependencies {
  readonly sessions: Sessions;
  readonly ledger: Pick<Ledger, 'readPayload'>;
  readonly transcripts: Transcripts;
  readonly provider: ModelProvider;
  readonly catalog: ModelCatalog;
  readonly tokens: TokenCounter;
  readonly tools: ToolHost;
  readonly digest: Digest;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
  readonly compress: Compress;
  readonly ids: IdSource;
  readonly approvals: Approvals;
  readonly approvalRules: ApprovalRules;
  readonly learnWindow: LearnWindow;
  readonly policy: CompressionPolicy;
  /** The configured cap on the output of one answer; null leaves it to the provider. */
  readonly maxOutputTokens: number | null;
  /** How often a request that failed in passing is tried again. */
  readonly retry: RetryPolicy;
  /** A random number from 0 to 1, so that many waiting turns don't come back at once. */
  readonly jitter: () => number;
  /** What a failure that is not the prompt's own does to the prompts behind it. */
  readonly onOutage: 'hold' | 'continue';
  /** The models that are asked when one can't answer, in this order. */
  readonly fallbacksOf: (target: ModelTarget) => readonly ModelTarget[];
  readonly logger: Pick<Logger, 'warn'>;
  /** The most steps of one turn. */
  readonly maxSteps: number;
}

/** How the turn tells what it does while it does it. */
export interface TurnProgress {
  /** Aborts when nobody waits any more for the tools that the turn could use: its claim will be refused. */
  readonly lookup: AbortSignal;
  claimed(executionGeneration: number): void;
  activity(activity: RunningTurn['activity'], step: number): void;
  listener(step: number): StepListener;
}

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
  const turn = new Turn(deps, { state, head, context, fallbacks, signal, progress });
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

/** How a turn is to end. */
interface Ending {
  readonly outcome: 'completed' | 'failed' | 'interrupted';
  /** The final answer, or what there is of one. */
  readonly answer: MessageDraft | null;
  readonly failure: Failure | null;
}

/** It is over already, or the process is about to stop: nothing is left to be settled. */
type Over = null;

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
    const ending = await this.#open();
    if (ending !== null) await this.#settle(ending);
  }

  /** Claims the head and gets its prompt ready to be sent. */
  async #open(): Promise<Ending | Over> {
    const prompt = await readPrompt(this.#deps, this.#head);
    if ('reason' in prompt) return (await this.#claim(null)) ? broken(prompt) : null;
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
    const outcome = await this.#compress(
      larger === null ? 'preflight' : 'downshift',
      triggerTokens,
      promptTokens,
      larger,
    );
    if (outcome.kind === 'abandoned') return interrupted(null);
    const { failure } = await this.#outlook(promptTokens);
    if (failure === null) return null;
    const why = outcome.kind === 'failed' && failure.reason === 'context_exhausted' ? outcome.failure.message : '';
    return broken({ ...failure, message: `${failure.message} ${why}`.trim() });
  }

  async #steps(): Promise<Ending | Over> {
    for (; this.#step <= this.#deps.maxSteps; this.#step += 1) {
      const outcome = await this.#request();
      if (outcome === null) return interrupted(null);
      if (outcome.kind === 'failed') return this.#failedStep(outcome);
      const answer = await this.#answerDraft(outcome);
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
    const answer = text === '' ? null : await this.#answerDraft(said);
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
      contextTokens: this.#wholeContext(answer.usage),
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

  /** Puts what waits for this turn behind the results of its step. The last step is followed by none, so it takes none. */
  async #mergeSteers(): Promise<Ending | Over | 'next'> {
    const waiting = this.#step < this.#deps.maxSteps ? waitingSteers(await this.#state()) : [];
    const prompts = await Promise.all(waiting.map((steer) => readPrompt(this.#deps, steer)));
    const { admissionId: turn } = this.#head;
    // One whose stored text is not what was accepted stays behind, and ends with the turn.
    const steers = waiting.flatMap(({ admissionId }, index) => {
      const prompt = prompts[index];
      if (prompt === undefined || 'reason' in prompt) return [];
      return [{ admissionId, message: { ...prompt, kind: 'steer' as const, admissionId: turn } }];
    });
    if (steers.length === 0) return 'next';
    const executionGeneration = this.#generation;
    const command = { kind: 'merge_steers', executionGeneration, steers, step: this.#step } as const;
    const sent = await this.#deps.sessions.send(this.#sessionId, command);
    return sent.kind === 'done' ? 'next' : endingOf(sent, null);
  }

  async #answerDraft(
    said: Pick<MessageDraft, 'text' | 'parts' | 'toolCalls' | 'usage' | 'finishReason'>,
  ): Promise<MessageDraft> {
    const calls = said.toolCalls.map((call) => `${call.name}${call.arguments}`);
    const counts = await this.#deps.tokens.count([said.text, ...calls, ...handedBackTexts(said)]);
    const { provider, model } = this.#context.target;
    return {
      ...said,
      answeredBy: { provider, model },
      role: 'assistant',
      kind: 'answer',
      toolCallId: null,
      tokens: counts.reduce((sum, count) => sum + count, messageOverheadTokens),
      partial: false,
      admissionId: this.#head.admissionId,
    };
  }

  async #settle(ending: Ending): Promise<void> {
    this.#progress.activity('settling', this.#step);
    await this.#deps.sessions.send(this.#sessionId, {
      kind: 'settle',
      executionGeneration: this.#generation,
      step: this.#step,
      usage: this.#usage,
      holdOnOutage: this.#deps.onOutage === 'hold',
      contextTokens: ending.outcome === 'completed' ? this.#wholeContext(ending.answer?.usage ?? null) : null,
      ...ending,
    });
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
  #wholeContext(usage: Usage | null): number | null {
    const reported = believed(usage);
    return reported === null ? null : reported + this.#savedTokens;
  }
}

function broken(failure: Failure): Ending {
  return { outcome: 'failed', answer: null, failure };
}

function interrupted(answer: MessageDraft | null): Ending {
  return { outcome: 'interrupted', answer, failure: null };
}

/** How a turn ends whose command was not accepted. */
function endingOf(
  sent: { readonly kind: 'refused'; readonly refusal: { readonly reason: string } } | { readonly kind: 'unavailable' },
  answer: MessageDraft | null,
): Ending | Over {
  return sent.kind === 'refused' && sent.refusal.reason === 'stop_requested' ? interrupted(answer) : null;
}

/** Reasoning costs tokens where it goes out again, which is with the calls that it led to. */
function handedBackTexts({ parts, toolCalls }: Pick<MessageDraft, 'parts' | 'toolCalls'>): readonly string[] {
  if (toolCalls.length === 0) return [];
  return (parts ?? []).flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
}

/** Input and output together, as the provider counts them; null when it says nothing that can be believed. */
function believed(usage: Usage | null): number | null {
  const input = usage?.inputTokens ?? 0;
  return input > 0 ? input + (usage?.outputTokens ?? 0) : null;
}
