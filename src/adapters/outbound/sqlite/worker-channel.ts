import type { MessagePort, Worker } from 'node:worker_threads';
import { StorageError } from '../../../core/ports/ledger.ts';
import { fromWireError, toWireError } from './wire-error.ts';
import type { WireError } from './wire-error.ts';

/** What a worker can be asked. A method answers at once, or throws; one that takes time answers when it has ended. */
export type WorkerApi = Readonly<Record<string, (...args: never[]) => unknown>>;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

type Answer = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: WireError };

/**
 * Calls to a worker thread. It begins them in the order of the calls. When the worker is gone, whatever the reason, every
 * call that waits and every later one is rejected with a `StorageError` of kind `io`: nobody knows what it had done.
 *
 * What can't be written as one text fails alone. A call that can't be sent was never begun: its kind is `too_large`.
 */
export class WorkerChannel<Api extends { readonly [M in keyof Api]: (...args: never[]) => unknown }> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
  #lastId = 0;
  #gone: StorageError | null = null;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (answer: string) => this.#answered(JSON.parse(answer) as Answer)); // as `serveWorker` wrote it
    worker.on('messageerror', (error) => this.#lost("sent an answer that can't be read", error));
    worker.on('error', (error) => this.#lost('crashed', error));
    worker.on('exit', () => this.#lost('ended', undefined));
  }

  call<M extends keyof Api & string>(method: M, ...args: Parameters<Api[M]>): Promise<Awaited<ReturnType<Api[M]>>> {
    if (this.#gone !== null) return Promise.reject(this.#gone);
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      const call = encode({ id: this.#lastId, method, args }, 'too_large');
      // The worker's method of this name gives the value its type.
      this.#waiting.set(this.#lastId, { resolve: resolve as (value: unknown) => void, reject });
      this.#worker.postMessage(call);
    });
  }

  /** Ends the worker at once, in whatever it does. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #answered(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('error' in answer) waiting?.reject(fromWireError(answer.error));
    else waiting?.resolve(answer.value);
  }

  #lost(what: string, cause: unknown): void {
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    this.#gone ??= new StorageError('io', `The storage thread ${what}${reason}`, { cause });
    for (const { reject } of this.#waiting.values()) reject(this.#gone);
    this.#waiting.clear();
  }
}

/**
 * JSON, which all of it can be written as: it takes a third of the time of a structured clone. Throws a `StorageError` of
 * the kind that is named for what is longer than a string may be.
 */
function encode(message: Call | Answer, whenTooLarge: StorageError['kind']): string {
  try {
    return JSON.stringify(message);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StorageError(whenTooLarge, 'It is too large to be handed over between threads', { cause: error });
  }
}

/**
 * The worker's side of a channel. `whenTooLarge` is what an answer that can't be sent means: `too_large` where every call
 * only reads, and `io` where a call may have changed something that nobody would hear of.
 */
export function serveWorker(port: MessagePort, api: WorkerApi, whenTooLarge: 'too_large' | 'io'): void {
  port.on('message', (call: string) => {
    const { id, method, args } = JSON.parse(call) as Call; // as the other side of the channel wrote it
    const answer = answerTo(id, () => api[method]?.(...(args as never[]))); // the caller's side is typed by the same Api
    if (answer instanceof Promise) void answer.then(send);
    else send(answer);
  });

  function send(answer: Answer): void {
    port.postMessage(encoded(answer));
  }

  function encoded(answer: Answer): string {
    try {
      return encode(answer, whenTooLarge);
    } catch (error) {
      return encode({ id: answer.id, error: toWireError(error) }, whenTooLarge);
    }
  }
}

/** Without a pause for a method that needs none: the next call may already be there. */
function answerTo(id: number, call: () => unknown): Answer | Promise<Answer> {
  const failed = (error: unknown): Answer => ({ id, error: toWireError(error) });
  try {
    const value = call();
    return value instanceof Promise
      ? value.then((late: unknown): Answer => ({ id, value: late }), failed)
      : { id, value };
  } catch (error) {
    return failed(error);
  }
}
