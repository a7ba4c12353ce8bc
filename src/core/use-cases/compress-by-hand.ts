/*
 * Compressions that somebody asks for. Its border: what they do to the transcript is the compressor's; that nothing is
 * claimed meanwhile and that one is stopped like a turn is the decider's.
 *
 * B1: a request id starts at most one compression; a repeat waits for it and hears the same, for ever.
 * B2: what is refused or has nothing to do starts nothing and leaves no trace.
 * B3: one that was stopped, by anybody, stops asking at once; its end is in the log before that.
 */
import type { ContextSize } from '../domain/compression/context-size.ts';
import { wideShare } from '../domain/compression/plan.ts';
import type { CompressionPlan } from '../domain/compression/plan.ts';
import type { ContextWindow } from '../domain/compression/trigger.ts';
import { occupant } from '../domain/session/state.ts';
import type { SessionState } from '../domain/session/state.ts';
import type { Refusal } from '../domain/session/refusal.ts';
import type { Digest } from '../ports/digest.ts';
import type { CompressionKey, CompressionRecord, Ledger } from '../ports/ledger.ts';
import type { ToolHost } from '../ports/tool-host.ts';
import { finishCompression, plansFor } from './compressor.ts';
import type { CompressInput, CompressorDependencies } from './compressor.ts';
import { isCutShort, patiently } from './patient-reads.ts';
import type { CommitListener } from './sessions.ts';
import { makeTurnContext, readTools } from './turn-context.ts';

export interface ByHandRequest {
  readonly sessionId: string;
  readonly principalId: string;
  readonly requestId: string;
  /** What the summary is to keep an eye on. */
  readonly focus: string | null;
  /** How many messages at the end are to stay; null: what the policy says. */
  readonly keepLast: number | null;
}

export type ByHandOutcome =
  /** It was committed, by this call or by an earlier one of the same id. */
  | { readonly kind: 'compressed'; readonly record: CompressionRecord; readonly duplicate: boolean }
  | { readonly kind: 'failed'; readonly record: CompressionRecord; readonly duplicate: boolean }
  | { readonly kind: 'nothing_to_compress' }
  /** The request id belongs to a request with other parameters. */
  | { readonly kind: 'request_conflict' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'unavailable' };

/** What a compression by hand would do. */
export interface ByHandPreview {
  readonly size: ContextSize;
  readonly window: ContextWindow;
  /** The plans in the order in which they would be tried; none: there is nothing to compress. */
  readonly plans: readonly CompressionPlan[];
}

export interface CompressionDeskDependencies extends CompressorDependencies {
  readonly ledger: Pick<Ledger, 'findCompression'>;
  readonly digest: Digest;
  readonly tools: ToolHost;
  readonly maxOutputTokens: number | null;
  readonly onBug: (error: unknown) => void;
}

/** The compressions by hand of this process. */
export class CompressionDesk {
  readonly #deps: CompressionDeskDependencies;
  readonly #running = new Map<string, RunningByHand>();
  /** By session: the look-ups and starts that are under way, one after the other (B1). */
  readonly #starting = new Map<string, Promise<unknown>>();
  /** Of the look-ups for tools: each may take as long as a tool server takes to start. */
  readonly #looking = new AbortController();

  constructor(deps: CompressionDeskDependencies) {
    this.#deps = deps;
  }

  async compress(request: ByHandRequest): Promise<ByHandOutcome> {
    const { sessionId, principalId, requestId } = request;
    const key = { sessionId, principalId, requestId };
    const started = await this.#alone(sessionId, () => this.#start(key, request));
    if (started.kind === 'answered') return started.outcome;
    await started.end;
    const record = await this.#deps.ledger.findCompression(key);
    return record === null ? { kind: 'unavailable' } : outcomeOf(record, started.duplicate);
  }

  /** Null: there is no such session. */
  async preview(request: Pick<ByHandRequest, 'sessionId' | 'keepLast'>): Promise<ByHandPreview | null> {
    const state = await this.#deps.sessions.state(request.sessionId);
    if (state === null || state.deletedAt !== null) return null;
    const prepared = await this.#prepare(state, request.keepLast, new AbortController().signal);
    return { size: prepared.size, window: prepared.window, plans: this.#plans(state, prepared) };
  }

  /** Listens to commits: what has an end needs no summary any more. */
  readonly observe: CommitListener = (sessionId, _state, events) => {
    const running = this.#running.get(sessionId);
    if (running === undefined) return;
    const isOver = events.some(
      (event) => event.type === 'compression.failed' && event.compressionId === running.compressionId,
    );
    if (isOver) running.controller.abort();
  };

  get isRunning(): boolean {
    return this.#running.size > 0 || this.#starting.size > 0;
  }

  /** Resolves when none runs. */
  async idle(): Promise<void> {
    while (this.isRunning) {
      await Promise.all([...this.#starting.values(), ...[...this.#running.values()].map(({ end }) => end)]);
    }
  }

  /** From now on no compression starts, so those that still look for their tools stop looking and are refused. */
  stopLooking(): void {
    this.#looking.abort();
  }

  /** Ends every compression, durably, as a client would. */
  async interruptAll(by: string): Promise<void> {
    const interrupts = [...this.#running].map(([sessionId, { executionGeneration }]) =>
      this.#deps.sessions.send(sessionId, { kind: 'interrupt', executionGeneration, by }),
    );
    await Promise.all(interrupts);
  }

  /** Aborts every request without asking anybody: for an owner that may write no more. */
  abortAll(): void {
    this.stopLooking();
    for (const { controller } of this.#running.values()) controller.abort();
  }

  async #start(key: CompressionKey, request: ByHandRequest): Promise<Started> {
    const { sessions, ledger, digest, ids } = this.#deps;
    const { sessionId, principalId, requestId, focus, keepLast } = request;
    const requestDigest = digest.of(JSON.stringify([focus, keepLast]));
    const known = await ledger.findCompression(key);
    if (known !== null) return this.#known(sessionId, known, requestDigest);

    const state = await sessions.state(sessionId);
    if (state === null || state.deletedAt !== null) {
      return answered({ kind: 'refused', refusal: { reason: 'not_found', what: 'session' } });
    }
    const prepared = await this.#prepare(state, keepLast, this.#looking.signal);
    const isFree = occupant(state) === undefined && state.lineage.open === null && !this.#looking.signal.aborted;
    if (isFree && this.#plans(state, prepared).length === 0) return answered({ kind: 'nothing_to_compress' });

    const compressionId = ids.next();
    const tokensBefore = prepared.size.localTokens;
    const sent = await sessions.send(sessionId, {
      kind: 'compress_by_hand',
      compressionId,
      tokensBefore,
      request: { principalId, requestId, requestDigest },
    });
    if (sent.kind === 'refused') return answered({ kind: 'refused', refusal: sent.refusal });
    if (sent.kind === 'unavailable') return answered({ kind: 'unavailable' });

    const { executionGeneration } = sent.reply;
    const controller = new AbortController();
    const input = { ...prepared.input, executionGeneration, focus, keepLast, signal: controller.signal };
    const end = this.#run(input, compressionId, tokensBefore);
    this.#running.set(sessionId, { compressionId, executionGeneration, controller, end });
    return { kind: 'running', end, duplicate: false };
  }

  /** What an earlier request of the same id came to, or is about to. */
  #known(sessionId: string, record: CompressionRecord, requestDigest: string): Started {
    if (record.requestDigest !== requestDigest) return answered({ kind: 'request_conflict' });
    const running = this.#running.get(sessionId);
    if (running?.compressionId === record.compressionId) return { kind: 'running', end: running.end, duplicate: true };
    return answered(outcomeOf(record, true));
  }

  /** Never rejects: whoever waits reads what became of it. */
  async #run(input: CompressInput, compressionId: string, tokensBefore: number): Promise<void> {
    try {
      // Nothing joins the transcript while it runs, so the state of this moment is the one that was started on.
      const { clock, sessions } = this.#deps;
      const state = await patiently(clock, input.signal, () => sessions.state(input.sessionId));
      if (state?.lineage.open?.compressionId === compressionId) {
        await finishCompression(this.#deps, input, { compressionId, state, tokensBefore });
      }
    } catch (error) {
      // One that is aborted has its end in the log, or a process that is about to stop.
      if (!isCutShort(error, input.signal)) this.#deps.onBug(error);
    } finally {
      // The next one may have been started in the append that ended this one.
      if (this.#running.get(input.sessionId)?.compressionId === compressionId) this.#running.delete(input.sessionId);
    }
  }

  async #prepare(state: SessionState, keepLast: number | null, signal: AbortSignal): Promise<Prepared> {
    const context = makeTurnContext(this.#deps, state, await readTools(this.#deps, state, signal));
    const { target, window } = context;
    const size = context.size(state, 0);
    const extras = context.extras(0);
    const extraTokens = extras.systemTokens + extras.toolTokens;
    const transcriptTokens = size.localTokens - extraTokens;
    const input = {
      sessionId: state.sessionId,
      admissionId: null,
      trigger: 'manual',
      // What is far below the trigger is compressed too: the budgets are shares of what the transcript has.
      triggerTokens: Math.min(window.triggerTokens, Math.floor(transcriptTokens + extraTokens / wideShare)),
      extras,
      promptPending: true,
      target,
      keepLast,
    } as const;
    return { size, window, input };
  }

  #plans(state: SessionState, { input }: Prepared): readonly CompressionPlan[] {
    return plansFor(this.#deps.policy, state, input);
  }

  /** Runs one look-up or start of a session at a time. */
  async #alone<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#starting.get(sessionId) ?? Promise.resolve();
    const own = before.then(work);
    const settled = own.then(
      () => undefined,
      () => undefined,
    );
    this.#starting.set(sessionId, settled);
    try {
      return await own;
    } finally {
      if (this.#starting.get(sessionId) === settled) this.#starting.delete(sessionId);
    }
  }
}

interface RunningByHand {
  readonly compressionId: string;
  readonly executionGeneration: number;
  readonly controller: AbortController;
  readonly end: Promise<void>;
}

interface Prepared {
  readonly size: ContextSize;
  readonly window: ContextWindow;
  readonly input: Omit<CompressInput, 'executionGeneration' | 'signal'>;
}

type Started =
  | { readonly kind: 'answered'; readonly outcome: ByHandOutcome }
  | { readonly kind: 'running'; readonly end: Promise<void>; readonly duplicate: boolean };

function answered(outcome: ByHandOutcome): Started {
  return { kind: 'answered', outcome };
}

function outcomeOf(record: CompressionRecord, duplicate: boolean): ByHandOutcome {
  switch (record.status) {
    case 'completed':
      return { kind: 'compressed', record, duplicate };
    case 'failed':
      return { kind: 'failed', record, duplicate };
    case 'started':
      return { kind: 'unavailable' }; // its owner, this process or another, is about to stop
  }
}
