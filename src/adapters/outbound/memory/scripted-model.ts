import { failureOf } from '../../../core/domain/model/failure.ts';
import type { FailureKind } from '../../../core/domain/model/failure.ts';
import type { Usage } from '../../../core/domain/model/usage.ts';
import type { ToolCall } from '../../../core/domain/transcript/message.ts';
import type { ModelEvent, ModelProvider, ModelRequest } from '../../../core/ports/model-provider.ts';

/** A step of a script: something that the model says, or a place where it waits. */
type ScriptStep =
  | ModelEvent
  /** Waits until somebody releases the gate of this name, or for an abort. */
  | { readonly kind: 'gate'; readonly name: string }
  /** Says nothing more, until an abort. */
  | { readonly kind: 'hang' };

/** One answer. Without a last event it ends like a connection that drops: `failed`, reason `cut_off`. */
export type Script = readonly ScriptStep[];

/**
 * A model that says what it was told to say, one script for each request in the order of the requests. It keeps every
 * request, and it keeps the port's promises: an abort ends the stream with `aborted` wherever it is, and exactly one
 * last event comes.
 */
export class ScriptedModel implements ModelProvider {
  /** Every request so far, in order, also those that were never read to their end. */
  readonly requests: ModelRequest[] = [];
  readonly #scripts: Script[] = [];
  readonly #otherwise: (request: ModelRequest) => Script;
  readonly #gates = new Map<string, Gate>();
  readonly #arrivals: { readonly count: number; readonly resolve: () => void }[] = [];

  /** `otherwise` answers the requests for which no script is left. */
  constructor(otherwise: (request: ModelRequest) => Script = () => [failedWith('internal', 'No script is left')]) {
    this.#otherwise = otherwise;
  }

  /** Puts scripts behind those that wait. */
  enqueue(...scripts: readonly Script[]): this {
    this.#scripts.push(...scripts);
    return this;
  }

  /** Opens a gate for good, also for streams that are not there yet. */
  release(name: string): void {
    this.#gate(name).released.open();
  }

  /** Resolves when a stream has reached the gate. */
  reached(name: string): Promise<void> {
    return this.#gate(name).reached.opened;
  }

  /** Resolves when so many requests have arrived, counted from the first ever. */
  requested(count: number): Promise<void> {
    if (this.requests.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#arrivals.push({ count, resolve }));
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    this.requests.push(request);
    for (const arrival of this.#arrivals) if (arrival.count <= this.requests.length) arrival.resolve();
    return this.#play(this.#scripts.shift() ?? this.#otherwise(request), signal);
  }

  async *#play(script: Script, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const aborted = latch();
    if (signal.aborted) aborted.open();
    signal.addEventListener('abort', aborted.open);
    try {
      for (const step of script) {
        if (step.kind === 'gate') await Promise.race([this.#wait(step.name), aborted.opened]);
        else if (step.kind === 'hang') await aborted.opened;
        // A network takes its time too: nobody may rely on an event that comes in the same tick as its request.
        else await Promise.resolve();
        if (signal.aborted) break;
        if (step.kind === 'gate' || step.kind === 'hang') continue;
        yield step;
        if (step.kind === 'finished' || step.kind === 'failed') return;
      }
      yield signal.aborted
        ? failedWith('aborted', 'The request was aborted')
        : failedWith('cut_off', 'The script ends without a last event');
    } finally {
      signal.removeEventListener('abort', aborted.open);
    }
  }

  #wait(name: string): Promise<void> {
    const gate = this.#gate(name);
    gate.reached.open();
    return gate.released.opened;
  }

  #gate(name: string): Gate {
    const gate = this.#gates.get(name) ?? { reached: latch(), released: latch() };
    this.#gates.set(name, gate);
    return gate;
  }
}

/** A script that answers with a text. */
export function textAnswer(text: string, usage: Usage | null = null): Script {
  return [
    { kind: 'text', text },
    { kind: 'finished', finishReason: 'stop', usage, parts: null },
  ];
}

/** A script that asks for tools. */
export function toolAnswer(calls: readonly ToolCall[], usage: Usage | null = null): Script {
  return [
    ...calls.map((call): ModelEvent => ({ kind: 'tool_call', call })),
    { kind: 'finished', finishReason: 'tool_calls', usage, parts: null },
  ];
}

/** The last event of an answer that failed. */
export function failedWith(reason: FailureKind, message: string): ModelEvent {
  return { kind: 'failed', failure: failureOf(reason, message), learnt: null, usage: null };
}

interface Gate {
  readonly reached: Latch;
  readonly released: Latch;
}

/** Something that opens once and stays open. */
interface Latch {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

function latch(): Latch {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = () => resolve()));
  return { opened, open };
}
