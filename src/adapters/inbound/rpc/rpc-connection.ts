import { closeCodes } from '../../../protocol/limits.ts';
import type { RpcResponse } from '../../../protocol/json-rpc.ts';
import { failed, rpcError } from './answer.ts';
import type { Answer } from './answer.ts';
import type { Principal, RpcDependencies } from './dependencies.ts';
import type { Dispatch } from './dispatch.ts';
import { EncodedAnswers, encodeAnswer } from './encode-answer.ts';
import type { EventFrames } from './event-frames.ts';
import type { Call } from './handler.ts';
import { Lane } from './lane.ts';
import { parseFrame } from './parse-frame.ts';
import type { IncomingCall } from './parse-frame.ts';
import type { RpcConnection, RpcPeer } from './peer.ts';
import { Subscriptions } from './subscriptions.ts';
import { TokenBucket } from './token-bucket.ts';

/** How long a client with too many unanswered calls should wait before it tries again. */
const overloadedRetryMs = 100;

/**
 * One client: its calls, its limits, its subscriptions.
 *
 * C1: calls are begun in the order in which they arrived.
 * C2: a call that arrived is carried out, also when the client goes away.
 * C3: a request gets exactly one answer, a notification none.
 */
export class RpcClientConnection implements RpcConnection {
  readonly #deps: RpcDependencies;
  readonly #dispatch: Dispatch;
  readonly #peer: RpcPeer;
  readonly #principal: Principal;
  readonly #subscriptions: Subscriptions;
  readonly #bucket: TokenBucket;
  readonly #lane = new Lane();
  readonly #gone = new AbortController();
  #inFlight = 0;

  constructor(
    deps: RpcDependencies,
    parts: { readonly dispatch: Dispatch; readonly frames: EventFrames },
    client: { readonly peer: RpcPeer; readonly principal: Principal },
  ) {
    const { limits, clock, subscribe, identity } = deps;
    this.#deps = deps;
    this.#dispatch = parts.dispatch;
    this.#peer = client.peer;
    this.#principal = client.principal;
    this.#subscriptions = new Subscriptions({
      subscribe,
      identity,
      peer: client.peer,
      frames: parts.frames,
      now: () => clock.now(),
      maxSubscriptions: limits.max_subscriptions,
    });
    this.#bucket = new TokenBucket({
      perSecond: limits.calls_per_second,
      burst: limits.call_burst,
      nowMs: () => clock.monotonicMs(),
    });
  }

  receive(text: string): void {
    const frame = parseFrame(text, this.#deps.limits);
    const answered = frame.kind === 'batch' ? this.#answerBatch(frame.calls) : this.#answerSingle(frame.call);
    answered.catch((error: unknown) => {
      this.#deps.logger.error('a frame could not be answered', { error });
      this.#peer.close(closeCodes.internalError, 'internal error');
    });
  }

  closed(): void {
    this.#gone.abort();
    this.#subscriptions.endAll();
  }

  async #answerSingle(call: IncomingCall): Promise<void> {
    const replied = new Signal();
    const response = await this.#answer(call, replied.given);
    if (response !== null) this.#peer.reply(encodeAnswer(response));
    replied.give();
  }

  /** Answers come in one frame when the last one is there, in the order of the calls. */
  async #answerBatch(calls: readonly IncomingCall[]): Promise<void> {
    const replied = new Signal();
    const responses = await Promise.all(calls.map((call) => this.#answer(call, replied.given)));
    const encoded = new EncodedAnswers();
    for (const response of responses) if (response !== null) encoded.add(response);
    if (encoded.count > 0) this.#peer.reply(encoded.frame());
    replied.give();
  }

  /** Null for a notification. */
  async #answer(call: IncomingCall, replied: Promise<void>): Promise<RpcResponse | null> {
    const retryAfterMs = this.#bucket.take();
    if (call.kind === 'invalid') {
      if (retryAfterMs > 0) this.#peer.close(closeCodes.policyViolation, 'too many malformed requests');
      return { jsonrpc: '2.0', id: call.id, error: call.error };
    }
    const answer = await this.#admit(call, retryAfterMs, replied);
    if (call.id === undefined) return null;
    return answer.kind === 'result'
      ? { jsonrpc: '2.0', id: call.id, result: answer.result }
      : { jsonrpc: '2.0', id: call.id, error: answer.error };
  }

  async #admit(
    request: { readonly method: string; readonly params: unknown },
    retryAfterMs: number,
    replied: Promise<void>,
  ): Promise<Answer<unknown>> {
    if (retryAfterMs > 0) return failed('rate_limited', { retry_after_ms: retryAfterMs });
    const limit = this.#deps.limits.max_in_flight;
    if (this.#inFlight >= limit)
      return { kind: 'error', error: rpcError('overloaded', { limit, retry_after_ms: overloadedRetryMs }) };
    const call: Call = {
      principal: this.#principal,
      subscriptions: this.#subscriptions,
      replied,
      gone: this.#gone.signal,
    };
    this.#inFlight += 1;
    try {
      return await this.#dispatch(request, call, this.#lane);
    } finally {
      this.#inFlight -= 1;
    }
  }
}

/** Something that happens once. */
class Signal {
  give: () => void = () => undefined;
  readonly given = new Promise<void>((resolve) => (this.give = resolve));
}
