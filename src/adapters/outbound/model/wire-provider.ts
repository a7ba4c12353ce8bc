import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { failureOf } from '../../../core/domain/model/failure.ts';
import type { Failure } from '../../../core/domain/model/failure.ts';
import type { ModelEvent, ModelProvider, ModelRequest } from '../../../core/ports/model-provider.ts';
import { withAlternatingRoles } from './alternating-roles.ts';
import { AnswerParts } from './answer-parts.ts';
import { Exchange } from './exchange.ts';
import { makeGuardedFetch } from './guarded-fetch.ts';
import type { GuardedFetchOptions } from './guarded-fetch.ts';
import { makeHttpTransport } from './http-transport.ts';
import { makeSdkModels } from './sdk-models.ts';
import { makeStallWatch, stallLimits } from './stall-watch.ts';
import type { StallLimits } from './stall-watch.ts';
import { abortedFailure, concludeStep } from './step-conclusion.ts';
import type { SdkEnd, StepFacts } from './step-conclusion.ts';
import { noModelOptions } from './wire.ts';
import type { ModelOptions, Wire } from './wire.ts';

export interface WireProviderOptions extends Partial<StallLimits> {
  /** The address up to and without what the wire adds to it. The key goes to its origin only. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs?: number;
  /** The most bytes of one answer: text, reasoning and arguments together. */
  readonly maxOutputBytes?: number;
  /** Makes ids for tool calls that came without one of their own. */
  readonly newCallId?: () => string;
  /** What is asked of a model beside its limits. */
  readonly optionsFor?: (model: string) => ModelOptions;
}

/** Clients may name models; of more of them than this nothing is remembered. */
const maxAlternating = 64;

export interface WireProvider extends ModelProvider {
  /** Closes idle connections. Running requests go on. */
  close(): void;
}

/** A provider that speaks one wire with one address. */
export function makeWireProvider(wire: Wire, options: WireProviderOptions): WireProvider {
  const transport = makeHttpTransport();
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const guard: GuardedFetchOptions = {
    transport,
    origin: new URL(baseUrl).origin,
    wire,
    connectTimeoutMs: options.connectTimeoutMs ?? 15_000,
    maxErrorBytes: 256 * 1024,
    maxOutputBytes: options.maxOutputBytes ?? 8 * 1024 * 1024,
    secrets: [options.apiKey ?? '', ...Object.values(options.headers ?? {})].filter((secret) => secret.length >= 8),
  };
  const sdk = makeSdkModels(wire, { baseUrl, apiKey: options.apiKey, headers: options.headers ?? {} });
  const limits = stallLimits(options);
  const newCallId = options.newCallId ?? randomCallId;
  const optionsFor = options.optionsFor ?? (() => noModelOptions);
  /** The models whose server has shown that it takes alternating roles only. */
  const alternating = new Set<string>();

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const refusal = signal.aborted ? abortedFailure : foreignAddress(request.target.baseUrl, baseUrl);
    if (refusal !== null) {
      yield { kind: 'failed', failure: refusal, learnt: null, usage: null };
      return;
    }
    const { model } = request.target;
    const { alternatingRoles } = optionsFor(model);
    const messages = withAlternatingRoles(request.messages);
    const isOther = messages !== request.messages;
    if (!isOther || !(alternatingRoles ?? alternating.has(model))) {
      const end = yield* exchangeOnce(request, signal, isOther && alternatingRoles === null);
      if (end !== 'other_roles') return;
    }
    const end = yield* exchangeOnce({ ...request, messages }, signal, false);
    if (end === 'finished' && alternating.size < maxAlternating) alternating.add(model);
  }

  /** One request and its answer. Where it `mayAskAgain`, a refusal of its roles is no event but `other_roles`. */
  async function* exchangeOnce(
    request: ModelRequest,
    signal: AbortSignal,
    mayAskAgain: boolean,
  ): AsyncGenerator<ModelEvent, 'finished' | 'failed' | 'other_roles'> {
    const exchange = new Exchange();
    const answer = new AnswerParts(wire.vendor);
    const closing = new AbortController();
    const close = (): void => closing.abort();
    signal.addEventListener('abort', close, { once: true });
    const fetch = makeGuardedFetch(guard, { exchange, watch: makeStallWatch(limits), signal: closing.signal });
    let isWhole = false;
    try {
      const end = yield* sdkEvents({ request, fetch, signal, closing: closing.signal, exchange, answer });
      if (mayAskAgain && !signal.aborted && isRefusedForRoles(exchange)) return 'other_roles';
      const offersTools = request.tools.length > 0;
      const facts = { isAborted: signal.aborted, end, exchange, offersTools, ...made(request, exchange, answer) };
      const events = concludeStep(facts);
      isWhole = events.at(-1)?.kind === 'finished';
      yield* events;
      return isWhole ? 'finished' : 'failed';
    } finally {
      signal.removeEventListener('abort', close);
      if (isWhole) closeAfter(exchange.drained, close);
      else close();
    }
  }

  /** What the SDK makes of the answer, as it comes; it returns how the SDK's stream ended and never throws. */
  async function* sdkEvents(given: {
    readonly request: ModelRequest;
    readonly fetch: typeof globalThis.fetch;
    readonly signal: AbortSignal;
    /** Of this exchange alone. */
    readonly closing: AbortSignal;
    readonly exchange: Exchange;
    readonly answer: AnswerParts;
  }): AsyncGenerator<ModelEvent, SdkEnd> {
    const { request, fetch, signal, closing, exchange, answer } = given;
    const end = { rawFinishReason: null as string | null, unifiedFinishReason: null as string | null, sawError: false };
    try {
      const { model } = request.target;
      const callOptions = wire.callOptions(request, optionsFor(model));
      const { stream } = await sdk.doStream({ model, options: callOptions, fetch, signal: closing });
      for await (const part of untilAborted(stream, signal)) {
        answer.take(part);
        const event = eventOf(part);
        if (event !== null) yield event;
        if (part.type === 'error') end.sawError = true;
        if (part.type !== 'finish') continue;
        // The SDK invents a reason, or loses it; what the frames said is what the provider said.
        end.rawFinishReason = exchange.finishReason;
        end.unifiedFinishReason = part.finishReason.unified;
      }
    } catch {
      end.sawError = true; // Why is in the exchange, or it is the abort.
    }
    return end;
  }

  /** The tool calls of an answer, and what of it is more than text. */
  function made(request: ModelRequest, exchange: Exchange, answer: AnswerParts): Pick<StepFacts, 'calls' | 'parts'> {
    const taken = callIds(request);
    if (wire.callsFrom === 'sdk') return { calls: answer.calls(taken, newCallId), parts: answer.contentParts() };
    const calls = exchange.toolCalls.calls(taken, newCallId);
    // Some thinking models want their reasoning back while they wait for tools, and no others take it at other times.
    const isWanted = exchange.reasoning !== '' && calls !== null && calls.length > 0;
    return { calls, parts: isWanted ? [{ type: 'reasoning', text: exchange.reasoning }] : null };
  }

  return { stream, close: () => transport.close() };
}

/** A refusal that came before anything of an answer did. */
function isRefusedForRoles({ failure, hasText, hasReasoning, hasToolCalls }: Exchange): boolean {
  return failure?.asksForAlternatingRoles === true && !hasText && !hasReasoning && !hasToolCalls;
}

function eventOf(part: LanguageModelV3StreamPart): ModelEvent | null {
  if (part.type === 'text-delta' && part.delta !== '') return { kind: 'text', text: part.delta };
  if (part.type === 'reasoning-delta' && part.delta !== '') return { kind: 'reasoning', text: part.delta };
  return null;
}

/** The stream's parts; an abort ends it at once, also while a part is awaited. */
async function* untilAborted<T>(stream: ReadableStream<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const reader = stream.getReader();
  // Cancelling answers a waiting read at once. Where the stream broke before, there is nothing to cancel.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

/** Lets a whole answer's connection be used again: its last bytes get a moment to come. */
function closeAfter(drained: Promise<void>, close: () => void): void {
  const timer = setTimeout(close, 1_000).unref();
  void drained.finally(() => {
    clearTimeout(timer);
    close();
  });
}

function callIds(request: ModelRequest): ReadonlySet<string> {
  return new Set(
    request.messages.flatMap((message) =>
      message.role === 'assistant' ? message.toolCalls.map((call) => call.id) : [],
    ),
  );
}

function foreignAddress(asked: string | null, baseUrl: string): Failure | null {
  if (asked === null || asked.replace(/\/+$/, '') === baseUrl) return null;
  return failureOf(
    'configuration',
    `The model's address ${asked} is not the configured ${baseUrl}; a key only goes to its own address.`,
  );
}

/** Nine letters and digits: the one form that every provider takes (Mistral refuses all others). */
function randomCallId(): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, 9);
}
