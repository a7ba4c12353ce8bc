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
import type { ContextSize, RequestExtras } from '../domain/compression/context-size.ts';
import { contextSize } from '../domain/compression/context-size.ts';
import { contextWindow, triggerAfterOverflow } from '../domain/compression/trigger.ts';
import type { CompressionPolicy, ContextWindow } from '../domain/compression/trigger.ts';
import { breakerIsOpen } from '../domain/lineage/lineage.ts';
import type { Failure } from '../domain/model/failure.ts';
import { failureOf } from '../domain/model/failure.ts';
import type { Usage } from '../domain/model/usage.ts';
import { addUsage } from '../domain/model/usage.ts';
import { invariant } from '../domain/invariant.ts';
import { assemble } from '../domain/transcript/assemble.ts';
import { textDraft } from '../domain/transcript/message.ts';
import type { MessageDraft } from '../domain/transcript/message.ts';
import { messageOverheadTokens } from '../domain/transcript/tokens.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Digest } from '../ports/digest.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { ModelCatalog } from '../ports/model-catalog.ts';
import type { ModelProvider, ModelTarget } from '../ports/model-provider.ts';
import type { TokenCounter } from '../ports/token-counter.ts';
import type { Compress } from './compressor.ts';
import { requestStep } from './model-step.ts';
import type { StepListener, StepOutcome } from './model-step.ts';
import type { Sessions } from './sessions.ts';
import { canonicalPayload } from './submit-prompt.ts';
import type { Transcripts } from './transcripts.ts';
import type { RunningTurn } from './gateway-status.ts';

export interface TurnDependencies {
  readonly sessions: Sessions;
  readonly ledger: Ledger;
  readonly transcripts: Transcripts;
  readonly provider: ModelProvider;
  readonly catalog: ModelCatalog;
  readonly tokens: TokenCounter;
  readonly digest: Digest;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
  readonly compress: Compress;
  readonly policy: CompressionPolicy;
  /** The configured cap on the output of one answer; null leaves it to the provider. */
  readonly maxOutputTokens: number | null;
  /** The most model requests that store something in one turn. */
  readonly maxSteps: number;
}

/** How the turn tells what it does while it does it. */
export interface TurnProgress {
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
  const turn = new Turn(deps, state, head, signal, progress);
  await turn.run();
}

/** How a turn is to end; null when it is over already or the process stops. */
type Ending = {
  readonly outcome: 'completed' | 'failed' | 'interrupted';
  readonly answer: MessageDraft | null;
  readonly failure: Failure | null;
} | null;

class Turn {
  readonly #deps: TurnDependencies;
  readonly #sessionId: string;
  readonly #head: Admission;
  readonly #signal: AbortSignal;
  readonly #progress: TurnProgress;
  readonly #target: ModelTarget;
  readonly #window: ContextWindow;
  readonly #windowIsGuessed: boolean;
  readonly #systemPrompt: string | null;
  readonly #systemTokens: number;
  #generation = 0;
  #step = 1;
  #usage: Usage | null = null;
  #contextTokens: number | null = null;

  constructor(
    deps: TurnDependencies,
    state: SessionState,
    head: Admission,
    signal: AbortSignal,
    progress: TurnProgress,
  ) {
    const { provider, model, baseUrl, systemPrompt, systemPromptTokens } = state.profile;
    this.#deps = deps;
    this.#sessionId = state.sessionId;
    this.#head = head;
    this.#signal = signal;
    this.#progress = progress;
    this.#target = { provider, model, baseUrl };
    const limits = deps.catalog.limits(this.#target);
    this.#window = contextWindow(deps.policy, limits, deps.maxOutputTokens);
    this.#windowIsGuessed = limits.source === 'default';
    this.#systemPrompt = systemPrompt;
    this.#systemTokens = systemPromptTokens;
  }

  async run(): Promise<void> {
    const ending = await this.#open();
    if (ending !== null) await this.#settle(ending);
  }

  /** Claims the head and gets its prompt ready to be sent. */
  async #open(): Promise<Ending> {
    const prompt = await this.#readPrompt();
    if ('reason' in prompt) return (await this.#claim(null)) ? broken(prompt) : null;
    const size = await this.#sizeWith(prompt.tokens);
    if (!this.#isDue(size)) {
      if (this.#overflows(size) && this.#deps.policy.enabled)
        return (await this.#claim(null)) ? broken(this.#exhausted(size, null)) : null;
      return (await this.#claim(prompt)) ? this.#steps() : null;
    }
    if (!(await this.#claim(null))) return null;
    const failure = await this.#preflight(prompt.tokens);
    if (failure === 'abandoned') return interrupted(null);
    if (failure !== null) return broken(failure);
    return this.#dispatch(prompt);
  }

  async #readPrompt(): Promise<MessageDraft | Failure> {
    const { ledger, digest, tokens } = this.#deps;
    const { admissionId, payloadDigest } = this.#head;
    const stored = await ledger.readPayload(admissionId);
    if (stored === null || digest.of(canonicalPayload(stored.payload)) !== payloadDigest) {
      return failureOf('payload_corrupt', 'The stored prompt is not the one that was accepted. It was not sent.');
    }
    const { text, parts } = stored.payload;
    const count = (await tokens.count([text]))[0] ?? 0;
    const draft = textDraft({ role: 'user', kind: 'prompt', text, tokens: count + messageOverheadTokens, admissionId });
    return { ...draft, parts, tokens: draft.tokens + partTokens(parts) };
  }

  async #claim(prompt: MessageDraft | null): Promise<boolean> {
    const sent = await this.#deps.sessions.send(this.#sessionId, {
      kind: 'claim',
      admissionId: this.#head.admissionId,
      prompt,
    });
    if (sent.kind !== 'done') return false;
    this.#generation = sent.reply.executionGeneration;
    this.#progress.claimed(this.#generation);
    return true;
  }

  async #dispatch(prompt: MessageDraft): Promise<Ending> {
    const executionGeneration = this.#generation;
    const sent = await this.#deps.sessions.send(this.#sessionId, { kind: 'dispatch', executionGeneration, prompt });
    return sent.kind === 'done' ? this.#steps() : endingOf(sent);
  }

  /** Compresses before a request. Null: go on; a failure: the turn can't be sent. */
  async #preflight(promptTokens: number): Promise<Failure | 'abandoned' | null> {
    const outcome = await this.#compress('preflight', this.#window.triggerTokens, promptTokens);
    if (outcome.kind === 'abandoned') return 'abandoned';
    const size = await this.#sizeWith(promptTokens);
    const failure = outcome.kind === 'failed' ? outcome.failure : null;
    return this.#overflows(size) ? this.#exhausted(size, failure) : null;
  }

  async #steps(): Promise<Ending> {
    for (; this.#step <= this.#deps.maxSteps; this.#step += 1) {
      const outcome = await this.#request();
      if (outcome === null) return interrupted(null);
      this.#addUsage(outcome.usage);
      if (outcome.kind === 'failed') return this.#failedStep(outcome);
      const answer = await this.#answerDraft(outcome);
      if (this.#signal.aborted) return interrupted(answer);
      if (outcome.toolCalls.length === 0) return { outcome: 'completed', answer, failure: null };
      const ending = await this.#answerTools(answer);
      if (ending !== 'next') return ending;
    }
    const message = `The turn did not end within ${String(this.#deps.maxSteps)} steps.`;
    return broken(failureOf('max_steps', message));
  }

  /** One request, compressed and repeated once if it overflows. Null: stopped while compressing. */
  async #request(): Promise<StepOutcome | null> {
    const { sessions, transcripts, policy } = this.#deps;
    for (let compressed = false; ; compressed = true) {
      const state = await sessions.state(this.#sessionId);
      invariant(state !== null, 'a running turn has a session');
      this.#progress.activity('model', this.#step);
      const outcome = await requestStep(
        this.#deps,
        {
          target: this.#target,
          system: this.#systemPrompt,
          messages: assemble(await transcripts.read(state)),
          tools: [],
          maxOutputTokens: this.#deps.maxOutputTokens,
          purpose: 'turn',
        },
        this.#signal,
        this.#progress.listener(this.#step),
      );
      if (outcome.kind !== 'failed' || outcome.failure.reason !== 'context_overflow' || this.#signal.aborted)
        return outcome;
      const size = contextSize(state, this.#extras(0));
      if (compressed || !policy.enabled || breakerIsOpen(state.lineage, this.#deps.clock.now())) {
        return { ...outcome, failure: this.#exhausted(size, outcome.failure) };
      }
      this.#addUsage(outcome.usage);
      const trigger = triggerAfterOverflow(this.#window.triggerTokens, size.localTokens);
      const compression = await this.#compress('overflow', trigger, 0);
      if (compression.kind === 'abandoned') return null;
      if (compression.kind === 'failed') return { ...outcome, failure: this.#exhausted(size, compression.failure) };
    }
  }

  async #failedStep(outcome: StepOutcome & { kind: 'failed' }): Promise<Ending> {
    const partial =
      outcome.text === ''
        ? null
        : await this.#answerDraft({ ...outcome, parts: null, toolCalls: [], finishReason: 'failed' });
    if (this.#signal.aborted) return interrupted(partial);
    return { outcome: 'failed', answer: partial, failure: outcome.failure };
  }

  /** Stores a step that asks for tools. There are none yet: every call gets an answer that says so. */
  async #answerTools(answer: MessageDraft): Promise<Ending | 'next'> {
    this.#progress.activity('tools', this.#step);
    const { admissionId } = this.#head;
    const results = answer.toolCalls.map((call): MessageDraft => {
      const text = `There is no tool called ${JSON.stringify(call.name)}.`;
      const tokens = Math.ceil(text.length / 4) + messageOverheadTokens;
      return { ...textDraft({ role: 'tool', kind: 'tool', text, tokens, admissionId }), toolCallId: call.id };
    });
    const sent = await this.#deps.sessions.send(this.#sessionId, {
      kind: 'append',
      executionGeneration: this.#generation,
      messages: [answer, ...results],
      step: this.#step + 1,
      contextTokens: null,
    });
    if (sent.kind !== 'done') return endingOf(sent);
    const size = await this.#sizeWith(0);
    if (!this.#isDue(size)) return 'next';
    const failure = await this.#preflight(0);
    if (failure === 'abandoned') return interrupted(null);
    return failure === null ? 'next' : broken(failure);
  }

  async #answerDraft(outcome: {
    readonly text: string;
    readonly parts: MessageDraft['parts'];
    readonly toolCalls: MessageDraft['toolCalls'];
    readonly usage: Usage | null;
    readonly finishReason: string;
  }): Promise<MessageDraft> {
    const calls = outcome.toolCalls.map((call) => `${call.name}${call.arguments}`);
    const counts = await this.#deps.tokens.count([outcome.text, ...calls]);
    this.#contextTokens = believed(outcome.usage);
    return {
      role: 'assistant',
      kind: 'answer',
      text: outcome.text,
      parts: outcome.parts,
      toolCalls: outcome.toolCalls,
      toolCallId: null,
      tokens: counts.reduce((sum, count) => sum + count, messageOverheadTokens),
      partial: false,
      usage: outcome.usage,
      finishReason: outcome.finishReason,
      admissionId: this.#head.admissionId,
    };
  }

  async #settle(ending: NonNullable<Ending>): Promise<void> {
    this.#progress.activity('settling', this.#step);
    await this.#deps.sessions.send(this.#sessionId, {
      kind: 'settle',
      executionGeneration: this.#generation,
      step: this.#step,
      usage: this.#usage,
      contextTokens: ending.outcome === 'completed' ? this.#contextTokens : null,
      ...ending,
    });
  }

  async #compress(
    trigger: 'preflight' | 'overflow',
    triggerTokens: number,
    promptTokens: number,
  ): ReturnType<Compress> {
    this.#progress.activity('compressing', this.#step);
    return this.#deps.compress({
      sessionId: this.#sessionId,
      executionGeneration: this.#generation,
      trigger,
      triggerTokens,
      extras: this.#extras(promptTokens),
      promptPending: promptTokens > 0,
      target: this.#target,
      signal: this.#signal,
    });
  }

  async #sizeWith(promptTokens: number): Promise<ContextSize & { readonly breakerOpen: boolean }> {
    const state = await this.#deps.sessions.state(this.#sessionId);
    invariant(state !== null, 'a turn has a session');
    const breakerOpen = breakerIsOpen(state.lineage, this.#deps.clock.now());
    return { ...contextSize(state, this.#extras(promptTokens)), breakerOpen };
  }

  #extras(promptTokens: number): RequestExtras {
    return { systemTokens: this.#systemTokens, toolTokens: 0, promptTokens };
  }

  #isDue(size: ContextSize & { readonly breakerOpen: boolean }): boolean {
    return this.#deps.policy.enabled && !size.breakerOpen && size.tokens >= this.#window.triggerTokens;
  }

  /** Whether a request surely doesn't fit. A window that nobody stated proves nothing. */
  #overflows(size: ContextSize): boolean {
    return !this.#windowIsGuessed && size.tokens > this.#window.windowTokens;
  }

  #exhausted(size: ContextSize, cause: Failure | null): Failure {
    const { windowTokens } = this.#window;
    const why = cause === null ? '' : ` ${cause.message}`;
    const message =
      `The request of about ${String(size.tokens)} tokens does not fit the window of ${String(windowTokens)} tokens ` +
      `(system prompt ${String(this.#systemTokens)}).${why}`;
    return failureOf('context_exhausted', message, { providerStatus: cause?.providerStatus ?? null });
  }

  #addUsage(usage: Usage | null): void {
    if (usage === null) return;
    this.#usage = this.#usage === null ? usage : addUsage(this.#usage, usage);
  }
}

function broken(failure: Failure): NonNullable<Ending> {
  return { outcome: 'failed', answer: null, failure };
}

function interrupted(answer: MessageDraft | null): NonNullable<Ending> {
  return { outcome: 'interrupted', answer, failure: null };
}

/** How a turn ends whose command was not accepted. */
function endingOf(
  sent: { readonly kind: 'refused'; readonly refusal: { readonly reason: string } } | { readonly kind: 'unavailable' },
): Ending {
  return sent.kind === 'refused' && sent.refusal.reason === 'stop_requested' ? interrupted(null) : null;
}

/** Input and output together, as the provider counts them; null when it says nothing that can be believed. */
function believed(usage: Usage | null): number | null {
  const input = usage?.inputTokens ?? 0;
  return input > 0 ? input + (usage?.outputTokens ?? 0) : null;
}

/** What an image costs where nobody says: the size of a large picture with the known vendors. */
const imageTokens = 1600;

function partTokens(parts: MessageDraft['parts']): number {
  return (parts ?? []).reduce((sum, part) => {
    if (part.type === 'image') return sum + imageTokens;
    if (part.type === 'file') return sum + Math.ceil(part.data.length / 4);
    return sum;
  }, 0);
}
