import type { EventSink, Subscribe, Subscription } from '../../../core/use-cases/subscribe.ts';
import type { GatewayIdentity } from './dependencies.ts';
import { eventFrame } from './event-frames.ts';
import type { EventFrames } from './event-frames.ts';
import type { RpcPeer } from './peer.ts';

/** A place that a call has taken for its session; what it does with it counts only while nobody else has taken it. */
export interface Reservation {
  /** Starts to send events after `afterSeq`, but none before `replied`. */
  start(afterSeq: number, replied: Promise<void>): void;
  /** Gives the place back. */
  cancel(): void;
}

/**
 * One connection's subscriptions, at most one for each session. A place is taken in the order of the calls, while what
 * fills it may take a while: so a later call always wins.
 */
export class Subscriptions {
  readonly #deps: SubscriptionsDependencies;
  readonly #bySession = new Map<string, Place>();
  /** Places for sessions that are just being made and have no id yet. */
  #kept = 0;
  #over = false;

  constructor(deps: SubscriptionsDependencies) {
    this.#deps = deps;
  }

  /** Ends the earlier subscription to the session, or answers null when there are too many. */
  reserve(sessionId: string): Reservation | null {
    this.end(sessionId);
    if (this.#isFull) return null;
    const place: Place = { subscription: null };
    // A call may come to its place after the client has gone: nothing would end what it starts.
    if (!this.#over) this.#bySession.set(sessionId, place);
    return {
      start: (afterSeq, replied) => {
        if (this.#bySession.get(sessionId) !== place) return;
        place.subscription = this.#deps.subscribe({ sessionId, afterSeq, sink: this.#sink(sessionId, place, replied) });
      },
      cancel: () => {
        this.#forget(sessionId, place);
      },
    };
  }

  /**
   * Keeps a place for a session that is about to be made, or answers null when there are too many. What it answers gives
   * the place back: a `reserve` in the same step as that call finds it free.
   */
  keepPlace(): (() => void) | null {
    if (this.#isFull) return null;
    this.#kept += 1;
    return () => {
      this.#kept -= 1;
    };
  }

  get #isFull(): boolean {
    return this.#bySession.size + this.#kept >= this.#deps.maxSubscriptions;
  }

  /** Whether there was one. */
  end(sessionId: string): boolean {
    const place = this.#bySession.get(sessionId);
    if (place === undefined) return false;
    this.#forget(sessionId, place);
    place.subscription?.close();
    return true;
  }

  /** The client has gone: from now on no place is given. */
  endAll(): void {
    this.#over = true;
    for (const sessionId of [...this.#bySession.keys()]) this.end(sessionId);
  }

  #sink(sessionId: string, place: Place, replied: Promise<void>): EventSink {
    const { peer, frames } = this.#deps;
    return {
      durable: (event) => {
        if (event.type === 'session.deleted') this.#forget(sessionId, place);
        return peer.event(frames.durable(event));
      },
      live: (event) => {
        peer.liveEvent(frames.live(event));
        return true;
      },
      gap: (lastSeq) => {
        this.#forget(sessionId, place);
        peer.reply(this.#gapFrame(sessionId, lastSeq));
      },
      drained: async () => {
        await replied;
        await peer.drained();
      },
    };
  }

  #gapFrame(sessionId: string, lastSeq: number): Uint8Array {
    const { identity, now } = this.#deps;
    const { epoch } = identity();
    return eventFrame({
      type: 'subscription.gap',
      session_id: sessionId,
      at: now(),
      epoch,
      payload: { last_seq: lastSeq },
    });
  }

  #forget(sessionId: string, place: Place): void {
    if (this.#bySession.get(sessionId) === place) this.#bySession.delete(sessionId);
  }
}

export interface SubscriptionsDependencies {
  readonly subscribe: Subscribe;
  readonly peer: RpcPeer;
  readonly frames: EventFrames;
  readonly identity: () => GatewayIdentity;
  readonly now: () => string;
  readonly maxSubscriptions: number;
}

interface Place {
  /** Null while the call that took the place is under way. */
  subscription: Subscription | null;
}
