import type { RpcResponse } from '../protocol/json-rpc.ts';
import { ConnectionError, GatewayError } from './errors.ts';

export interface CallOptions {
  /** How long to wait for the answer; reconnecting counts. */
  readonly timeoutMs: number;
  /** Whether the call is sent again after a reconnect when its answer was lost. */
  readonly resend: boolean;
  /** Called with the result before anything that came after it is looked at. */
  readonly onResult: (result: unknown) => void;
}

/**
 * The calls that are not answered yet, in the order in which they were made.
 *
 * Every method of the protocol may be repeated: a prompt has its input id, a session its request id, a turn its
 * generation. So what was lost with a connection is sent again, in order, and takes effect once.
 */
export class PendingCalls {
  readonly #calls = new Map<number, PendingCall>();
  #lastId = 0;
  #unanswered = 0;

  add(method: string, params: unknown, options: CallOptions): Promise<unknown> {
    const id = (this.#lastId += 1);
    const frame = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#end(id)?.reject(
          new ConnectionError('timed_out', `${method} was not answered in ${options.timeoutMs} ms.`),
        );
      }, options.timeoutMs);
      this.#calls.set(id, { frame, options, timer, resolve, reject, isSent: false });
    });
  }

  /** Sends what has not been sent on this connection, as many as may be unanswered at once. */
  flush(
    limits: { readonly max_in_flight: number; readonly max_frame_bytes: number },
    send: (frame: string) => void,
  ): void {
    for (const [id, call] of this.#calls) {
      if (this.#unanswered >= limits.max_in_flight) return;
      if (call.isSent) continue;
      if (byteLength(call.frame) > limits.max_frame_bytes) {
        this.#end(id)?.reject(tooLarge(call.frame));
        continue;
      }
      call.isSent = true;
      this.#unanswered += 1;
      send(call.frame);
    }
  }

  answered(response: RpcResponse): void {
    const call = typeof response.id === 'number' ? this.#end(response.id) : undefined;
    if (call === undefined) return;
    if ('error' in response) {
      call.reject(new GatewayError(response.error));
    } else {
      call.options.onResult(response.result);
      call.resolve(response.result);
    }
  }

  /** The connection is gone, and with it the answers that were on their way. */
  connectionLost(): void {
    this.#unanswered = 0;
    for (const [id, call] of this.#calls) {
      if (call.isSent && !call.options.resend)
        this.#end(id)?.reject(new ConnectionError('closed', 'The connection was lost.'));
      else call.isSent = false;
    }
  }

  /** Gives up the largest call that was under way: the gateway has cut the connection because of its size. */
  dropLargest(): void {
    const sent = [...this.#calls].filter(([, call]) => call.isSent);
    const [largest] = sent.sort(([, a], [, b]) => b.frame.length - a.frame.length);
    if (largest !== undefined) this.#end(largest[0])?.reject(tooLarge(largest[1].frame));
  }

  rejectAll(error: Error): void {
    for (const id of [...this.#calls.keys()]) this.#end(id)?.reject(error);
  }

  #end(id: number): PendingCall | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    clearTimeout(call.timer);
    this.#calls.delete(id);
    if (call.isSent) this.#unanswered -= 1;
    return call;
  }
}

interface PendingCall {
  readonly frame: string;
  readonly options: CallOptions;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  /** On the present connection. */
  isSent: boolean;
}

function tooLarge(frame: string): ConnectionError {
  return new ConnectionError('frame_too_large', `The call has ${byteLength(frame)} bytes; the gateway takes less.`);
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
