import type { ReadyEvent, WireEvent } from '../protocol/events.ts';
import type { RpcResponse } from '../protocol/json-rpc.ts';
import { closeCodes } from '../protocol/limits.ts';
import type { MethodName, ParamsOf, ResultOf } from '../protocol/registry.ts';
import { backoffMs } from './backoff.ts';
import { ConnectionError } from './errors.ts';
import { EventFeed } from './event-feed.ts';
import type { FeedSource } from './event-feed.ts';
import { GatewaySocket } from './gateway-socket.ts';
import type { Endpoint } from './gateway-socket.ts';
import { PendingCalls } from './pending-calls.ts';
import type { CallOptions } from './pending-calls.ts';

export interface ConnectOptions extends Endpoint {
  /** Asked before each reconnect: a restarted gateway may listen elsewhere. */
  readonly locate?: () => Promise<Endpoint>;
  /** How long to wait for an answer, reconnects included. */
  readonly requestTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Told when the connection is lost, is there again, and is closed for good. */
  readonly onState?: (state: ClientState) => void;
  /** Sees every event of every subscription as it arrives, in no better order than that. */
  readonly onEvent?: (event: WireEvent) => void;
  readonly retryDelayMs?: (attempt: number) => number;
}

export type ClientState = 'connected' | 'reconnecting' | 'closed';

/** Connects to a gateway. Rejects with a `ConnectionError` when the first attempt fails; later ones are repeated. */
export async function connect(options: ConnectOptions): Promise<GatewayClient> {
  const client = new GatewayClient(options);
  await client.open();
  return client;
}

/**
 * A client that stays connected: it comes back after a lost connection, subscribes again after the last event that it
 * has, and sends again what was not answered.
 */
export class GatewayClient {
  readonly #options: ConnectOptions;
  readonly #pending = new PendingCalls();
  readonly #feeds = new Map<string, EventFeed>();
  #socket: GatewaySocket | null = null;
  #ready: ReadyEvent | null = null;
  #closed: ConnectionError | null = null;
  #stopWaiting: () => void = () => undefined;
  /** Calls under way that will follow a session. */
  #following = 0;

  constructor(options: ConnectOptions) {
    this.#options = options;
  }

  /** What the gateway said of itself when it was last connected to. */
  get ready(): ReadyEvent {
    if (this.#ready === null) throw new ConnectionError('closed', 'The client was never connected.');
    return this.#ready;
  }

  get state(): ClientState {
    if (this.#closed !== null) return 'closed';
    return this.#socket === null ? 'reconnecting' : 'connected';
  }

  /** Calls a method. Rejects with a `GatewayError` when it is refused, and with a `ConnectionError` when it didn't get through. */
  async call<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<ResultOf<M>> {
    return this.#request(method, params, options);
  }

  /** Takes a snapshot and follows the session from it on. */
  async resume(params: ParamsOf<'session.resume'>): Promise<FollowedSession<'session.resume'>> {
    return this.#follow('session.resume', params);
  }

  /** Makes a session, or finds the one that the same request made, and follows it. */
  async create(params: ParamsOf<'session.create'>): Promise<FollowedSession<'session.create'>> {
    return this.#follow('session.create', params);
  }

  /** Follows a session after the last event that the caller has processed. Takes the session's own id. */
  subscribe(start: { readonly sessionId: string; readonly afterSeq: number; readonly storeId?: string }): EventFeed {
    const storeId = start.storeId ?? this.ready.payload.store_id;
    const feed = this.#bind(new EventFeed(this.#feedSource, { ...start, storeId }));
    void feed.attach();
    return feed;
  }

  /** Ends the client: nothing is sent or waited for any more. What was sent still takes effect. */
  close(): void {
    this.#end(new ConnectionError('closed', 'The client was closed.'));
  }

  /** The first connection; `connect` calls it. */
  async open(): Promise<void> {
    try {
      await this.#connect(this.#options);
    } catch (error) {
      this.#end(
        error instanceof ConnectionError ? error : new ConnectionError('unreachable', String(error), { cause: error }),
      );
      throw error;
    }
  }

  async #follow<M extends 'session.resume' | 'session.create'>(
    method: M,
    params: ParamsOf<M>,
  ): Promise<FollowedSession<M>> {
    const bound: { feed?: EventFeed } = {};
    // Bound before the first event that follows the answer is looked at.
    const onResult = (result: unknown): void => {
      const { session_id: sessionId, store_id: storeId, last_seq: afterSeq } = result as ResultOf<'session.resume'>; // both methods answer a snapshot
      bound.feed = this.#bind(new EventFeed(this.#feedSource, { sessionId, storeId, afterSeq }));
      bound.feed.subscribed();
    };
    this.#following += 1;
    const snapshot = await this.#request(method, params, { onResult }).finally(() => (this.#following -= 1));
    if (bound.feed === undefined) throw new ConnectionError('closed', 'The client was closed.');
    return { snapshot, events: bound.feed };
  }

  /** A session has one feed; a further one takes its place. */
  #bind(feed: EventFeed): EventFeed {
    const earlier = this.#feeds.get(feed.sessionId);
    this.#feeds.set(feed.sessionId, feed);
    earlier?.close();
    return feed;
  }

  async #request<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options: Partial<CallOptions>,
  ): Promise<ResultOf<M>> {
    if (this.#closed !== null) throw this.#closed;
    const answer = this.#pending.add(method, repeatable(method, params), {
      timeoutMs: options.timeoutMs ?? this.#timeoutMs(params),
      resend: options.resend ?? true,
      onResult: options.onResult ?? (() => undefined),
    });
    this.#flush();
    return (await answer) as ResultOf<M>; // the gateway answers what the method defines
  }

  #timeoutMs(params: object): number {
    const { requestTimeoutMs = 30_000 } = this.#options;
    return 'timeout_ms' in params && typeof params.timeout_ms === 'number'
      ? params.timeout_ms + requestTimeoutMs
      : requestTimeoutMs;
  }

  #flush(): void {
    const socket = this.#socket;
    if (socket === null) return;
    this.#pending.flush(socket.ready.payload.limits, (frame) => {
      socket.send(frame);
    });
  }

  async #connect(endpoint: Endpoint): Promise<void> {
    const socket = await GatewaySocket.open(endpoint, this.#options.connectTimeoutMs ?? 10_000, {
      answer: (response) => {
        this.#answered(response);
      },
      event: (event) => {
        this.#event(event);
      },
      lost: (code) => {
        this.#lost(code);
      },
    });
    if (this.#closed !== null) {
      socket.close();
      return;
    }
    this.#socket = socket;
    this.#ready = socket.ready;
    this.#options.onState?.('connected');
    for (const feed of this.#feeds.values()) void feed.attach();
    this.#flush();
  }

  #answered(response: RpcResponse): void {
    this.#pending.answered(response);
    this.#flush();
  }

  #event(event: WireEvent): void {
    this.#options.onEvent?.(event);
    if ('session_id' in event) this.#feeds.get(event.session_id)?.receive(event);
  }

  #lost(code: number): void {
    this.#socket = null;
    if (code === closeCodes.messageTooBig) this.#pending.dropLargest();
    this.#pending.connectionLost();
    for (const feed of this.#feeds.values()) feed.detached();
    if (this.#closed === null) void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    this.#options.onState?.('reconnecting');
    const { retryDelayMs = (attempt) => backoffMs(attempt, Math.random()), locate } = this.#options;
    for (let attempt = 0; this.#closed === null; attempt += 1) {
      await this.#pause(retryDelayMs(attempt));
      if (this.#isClosed()) return;
      try {
        await this.#connect((await locate?.()) ?? this.#options);
        return;
      } catch (error) {
        if (error instanceof ConnectionError && error.isFinal) {
          this.#end(error);
          return;
        }
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #isClosed(): boolean {
    return this.#closed !== null;
  }

  #end(error: ConnectionError): void {
    if (this.#closed !== null) return;
    this.#closed = error;
    this.#stopWaiting();
    this.#socket?.close();
    this.#socket = null;
    this.#pending.rejectAll(error);
    for (const feed of [...this.#feeds.values()]) {
      if (error.kind === 'closed') feed.close();
      else feed.fail(error);
    }
    this.#options.onState?.('closed');
  }

  readonly #feedSource: FeedSource = {
    // A subscription that was asked for on a lost connection is asked for anew: its cursor has moved.
    subscribe: (session_id, after_seq, store_id) =>
      this.#request('session.subscribe', { session_id, after_seq, store_id }, { resend: false }),
    unsubscribe: (session_id) => {
      this.#request('session.unsubscribe', { session_id }, { resend: false }).catch(() => undefined);
    },
    events: (session_id, after_seq, store_id) =>
      this.#request('session.events', { session_id, after_seq, store_id }, { resend: false }),
    ended: (feed) => {
      if (this.#feeds.get(feed.sessionId) !== feed) return;
      this.#feeds.delete(feed.sessionId);
      // The subscription may already be that of a call whose answer is on its way; events for nobody do no harm.
      if (this.#closed === null && this.#following === 0) this.#feedSource.unsubscribe(feed.sessionId);
    },
  };
}

/** A session as it was, and what has happened to it since. */
export interface FollowedSession<M extends 'session.resume' | 'session.create'> {
  readonly snapshot: ResultOf<M>;
  readonly events: EventFeed;
}

/** What makes or changes something gets a request id, so that sending it again after a lost connection does it once. */
function repeatable(method: MethodName, params: object): object {
  return needsRequestId(method, params) ? { ...params, request_id: crypto.randomUUID() } : params;
}

function needsRequestId(
  method: MethodName,
  params: { readonly request_id?: unknown; readonly preview?: unknown },
): boolean {
  if (params.request_id !== undefined) return false;
  if (method === 'session.compress') return params.preview !== true;
  return method === 'session.create' || method === 'session.fork';
}
