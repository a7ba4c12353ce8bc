import type { ModelEvent, ModelProvider, ModelRequest } from '../../../src/core/ports/model-provider.ts';
import type { Judge } from '../judge/judge.ts';
import type { Exchange, ExchangeEnd, ProcessView } from '../judge/rows.ts';
import type { SimulatedClock } from '../world/simulated-clock.ts';
import type { Owner, World } from '../world/world.ts';
import { Channel } from './channel.ts';
import { scriptFor } from './model-scripts.ts';
import type { ModelStep, ServerTraits } from './model-scripts.ts';

/** How long an adapter waits for a silent server, in milliseconds. */
const stallMs = 60_000;

/** A process that asks, with what it knows of its own turns. */
export interface Asker extends Owner, ProcessView {
  turnOf(sessionId: string): Exchange['turn'];
}

/** The servers behind every model, and the adapters that ask them. */
export class ModelServer {
  readonly #world: World;
  readonly #clock: SimulatedClock;
  readonly #judge: Judge;
  readonly #traits: ServerTraits;
  readonly #sessionOfModel: ReadonlyMap<string, string>;
  #count = 0;

  constructor(deps: {
    readonly world: World;
    readonly clock: SimulatedClock;
    readonly judge: Judge;
    readonly traits: ServerTraits;
    readonly sessionOfModel: ReadonlyMap<string, string>;
  }) {
    this.#world = deps.world;
    this.#clock = deps.clock;
    this.#judge = deps.judge;
    this.#traits = deps.traits;
    this.#sessionOfModel = deps.sessionOfModel;
  }

  /** The adapter of one process. */
  providerFor(asker: Asker): ModelProvider {
    return { stream: (request, signal) => this.#stream(asker, request, signal) };
  }

  #stream(asker: Asker, request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const channel = new Channel<ModelEvent>();
    const exchange = this.#exchange(asker, request);
    this.#judge.requests.called(exchange);
    const name = `${request.purpose} request ${exchange.number}`;
    const abort = (): void =>
      this.#world.add(asker, `${name} aborts`, () => end({ kind: 'failed', reason: 'aborted' }));
    const end = (result: ExchangeEnd, event: ModelEvent | null = failed(result), error: Error | null = null): void => {
      if (exchange.end !== null) return;
      exchange.end = result;
      this.#judge.requests.ended(exchange);
      signal.removeEventListener('abort', abort);
      if (event !== null) channel.push(event);
      channel.end(error);
    };
    const play = (steps: readonly ModelStep[]): void => {
      const [step, ...rest] = steps;
      if (exchange.end !== null || step === undefined) return;
      this.#world.add(asker, `${name} ${step.kind}`, () => {
        if (exchange.end !== null) return;
        this.#perform(step, exchange, channel, end, asker);
        play(rest);
      });
    };
    signal.addEventListener('abort', abort);
    this.#world.add(asker, `${name} arrives`, () => {
      if (exchange.end === null) play(scriptFor(request, exchange.number, this.#traits, this.#world.decisions));
    });
    return channel;
  }

  #perform(step: ModelStep, exchange: Exchange, channel: Channel<ModelEvent>, end: EndExchange, asker: Asker): void {
    switch (step.kind) {
      case 'text':
        exchange.said.push(step.text);
        channel.push(step);
        break;
      case 'reasoning':
      case 'tool_call':
        channel.push(step);
        if (step.kind === 'tool_call') this.#calls.set(exchange, (this.#calls.get(exchange) ?? 0) + 1);
        break;
      case 'finish': {
        const { finishReason, usage } = step;
        const toolCalls = this.#calls.get(exchange) ?? 0;
        const reportedTokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
        end(
          { kind: 'finished', finishReason, toolCalls, reportedTokens },
          { kind: 'finished', finishReason, usage, parts: null },
        );
        break;
      }
      case 'fail':
        end({
          kind: 'failed',
          reason: step.reason,
          passes: step.passes,
          retryAfterMs: step.retryAfterMs,
          windowTokens: step.windowTokens,
        });
        break;
      case 'hang':
        this.#clock.after(asker, stallMs, () => end({ kind: 'failed', reason: 'stalled' }));
        break;
      case 'throw':
        end({ kind: 'failed', reason: 'threw' }, null, new Error('the adapter broke'));
        break;
      case 'vanish':
        end({ kind: 'failed', reason: 'cut_off' }, null);
        break;
    }
  }

  readonly #calls = new WeakMap<Exchange, number>();

  #exchange(asker: Asker, request: ModelRequest): Exchange {
    this.#count += 1;
    const sessionId = this.#sessionOfModel.get(request.target.model) ?? null;
    return {
      number: this.#count,
      process: asker,
      purpose: request.purpose,
      model: request.target.model,
      sessionId,
      turn: sessionId === null ? null : asker.turnOf(sessionId),
      messages: request.messages,
      toolCount: request.tools.length,
      said: [],
      end: null,
    };
  }
}

type EndExchange = (result: ExchangeEnd, event?: ModelEvent | null, error?: Error | null) => void;

function failed(result: ExchangeEnd): ModelEvent | null {
  if (result.kind !== 'failed') return null;
  const failure = {
    reason: result.reason as FailureReason, // the scripts name kinds of failures only
    message: `The server said ${result.reason}.`,
    retryable: result.passes ?? false,
    providerStatus: null,
    retryAfterMs: result.retryAfterMs ?? null,
  };
  const { windowTokens } = result;
  const learnt = windowTokens === undefined ? null : { contextTokens: windowTokens };
  return { kind: 'failed', failure, learnt, usage: null };
}

type FailureReason = Extract<ModelEvent, { kind: 'failed' }>['failure']['reason'];
