import type { DurableWireEvent, LiveWireEvent, WireEvent } from '../protocol/events.ts';
import type { ResultOf } from '../protocol/registry.ts';
import { ConnectionError, GatewayError } from './errors.ts';

/** What a feed brings: what happens to a session, and what its model says meanwhile. */
export type SessionEvent = DurableWireEvent | LiveWireEvent;

/** What a feed asks its client for. */
export interface FeedSource {
  subscribe(sessionId: string, afterSeq: number, storeId: string): Promise<ResultOf<'session.subscribe'>>;
  unsubscribe(sessionId: string): void;
  events(sessionId: string, afterSeq: number, storeId: string): Promise<ResultOf<'session.events'>>;
  ended(feed: EventFeed): void;
}

/** So many events wait for a slow consumer; then the feed stops listening until half of them are gone. */
const maxWaiting = 1_000;

const retryMs = 500;

/**
 * The events of one session, durable ones each once and in order, across any number of reconnects.
 *
 * F1: an event is handed out only after the one before it. When one is missing, the feed asks for the range.
 * F2: `cursor` is the last durable event that the consumer has finished with, and never an earlier anchor.
 * F3: live events come only while nothing durable is missing; a gap in them shows in their offsets.
 * F4: `session.deleted` ends the feed. It follows on any event, because those between are gone with the session.
 */
export class EventFeed implements AsyncIterable<SessionEvent> {
  readonly sessionId: string;
  readonly #storeId: string;
  readonly #source: FeedSource;
  readonly #waiting: SessionEvent[] = [];
  #state: 'detached' | 'listening' | 'filling' | 'paused' | 'ended' = 'detached';
  /** The last durable event that was put in line. */
  #lastSeq: number;
  #newestSeq: number;
  /** Where the feed stood when it was last told of a gap. */
  #gapAfter: number | null = null;
  #cursor: number;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(
    source: FeedSource,
    start: { readonly sessionId: string; readonly storeId: string; readonly afterSeq: number },
  ) {
    this.#source = source;
    this.sessionId = start.sessionId;
    this.#storeId = start.storeId;
    this.#lastSeq = start.afterSeq;
    this.#newestSeq = start.afterSeq;
    this.#cursor = start.afterSeq;
  }

  /** Keep it to go on from here another time. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Ends when the feed is closed or the session deleted; throws when it can't go on. Leaving the loop closes the feed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SessionEvent, void, undefined> {
    try {
      for (;;) {
        const event = await this.#next();
        if (event === undefined) return;
        yield event;
        if ('seq' in event) this.#cursor = event.seq;
      }
    } finally {
      this.close();
    }
  }

  /** Calls back for each event, the next one when the call has ended. Resolves when the feed is closed. */
  async forEach(handle: (event: SessionEvent) => void | Promise<void>): Promise<void> {
    for await (const event of this) await handle(event);
  }

  close(): void {
    this.#waiting.length = 0;
    this.#end(undefined);
  }

  /** The connection is subscribed already, from the snapshot on. */
  subscribed(): void {
    if (this.#state === 'detached') this.#state = 'listening';
  }

  /** Subscribes, for the first time or again, after the last event that has arrived. */
  async attach(): Promise<void> {
    if (this.#state === 'ended' || this.#state === 'paused') return;
    this.#state = 'listening';
    try {
      const { last_seq } = await this.#source.subscribe(this.sessionId, this.#lastSeq, this.#storeId);
      this.#newestSeq = Math.max(this.#newestSeq, last_seq);
    } catch (error) {
      this.#failedTo(error, () => this.attach());
    }
  }

  detached(): void {
    if (this.#state !== 'ended' && this.#state !== 'paused') this.#state = 'detached';
  }

  receive(event: WireEvent): void {
    if (event.type === 'subscription.gap') {
      this.#attachAfterGap();
    } else if (event.type !== 'gateway.ready') {
      if ('seq' in event) this.#receiveDurable(event);
      else if (this.#state === 'listening' && this.#waiting.length < maxWaiting / 2) this.#put(event);
    }
  }

  fail(error: Error): void {
    this.#end(error);
  }

  /** At once, unless nothing has come since the last gap: then it isn't slowness that ends the subscription. */
  #attachAfterGap(): void {
    if (this.#gapAfter === this.#lastSeq) setTimeout(() => void this.attach(), retryMs);
    else void this.attach();
    this.#gapAfter = this.#lastSeq;
  }

  #receiveDurable(event: DurableWireEvent): void {
    this.#newestSeq = Math.max(this.#newestSeq, event.seq);
    if (event.type === 'session.deleted') {
      this.#putLast(event);
      return;
    }
    if (this.#state !== 'listening' || event.seq <= this.#lastSeq) return;
    if (event.seq === this.#lastSeq + 1) this.#putDurable(event);
    else void this.#fill();
  }

  /** Asks for what is missing. What arrives meanwhile is in the log too, and its number says how far to read. */
  async #fill(): Promise<void> {
    this.#state = 'filling';
    try {
      while (this.#isFilling() && this.#lastSeq < this.#newestSeq) {
        const askedAfter = this.#lastSeq;
        const page = await this.#source.events(this.sessionId, askedAfter, this.#storeId);
        this.#newestSeq = Math.max(this.#newestSeq, page.last_seq);
        for (const event of page.events) {
          if (this.#isFilling() && event.seq === this.#lastSeq + 1) this.#putDurable(event);
        }
        // The log itself has a hole: asking again at once brings nothing else.
        if (this.#lastSeq === askedAfter) await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
      if (this.#isFilling()) this.#state = 'listening';
    } catch (error) {
      if (this.#isFilling()) this.#failedTo(error, () => this.#fill());
    }
  }

  #isFilling(): boolean {
    return this.#state === 'filling';
  }

  #failedTo(error: unknown, again: () => Promise<void>): void {
    if (error instanceof ConnectionError) return; // a new connection attaches again, a closed client ends the feed
    if (error instanceof GatewayError && error.retryable)
      setTimeout(() => void again(), error.data.retry_after_ms ?? retryMs);
    else this.#end(error instanceof Error ? error : new Error(String(error)));
  }

  #putDurable(event: DurableWireEvent): void {
    this.#lastSeq = event.seq;
    this.#put(event);
    if (this.#waiting.length < maxWaiting) return;
    this.#state = 'paused';
    this.#source.unsubscribe(this.sessionId);
  }

  #putLast(event: DurableWireEvent): void {
    if (this.#state !== 'listening' && this.#state !== 'filling') return;
    this.#waiting.push(event);
    this.#end(undefined);
  }

  #put(event: SessionEvent): void {
    this.#waiting.push(event);
    this.#wake();
  }

  async #next(): Promise<SessionEvent | undefined> {
    while (this.#waiting.length === 0 && this.#state !== 'ended') {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const event = this.#waiting.shift();
    if (event === undefined && this.#failure !== undefined) throw this.#failure;
    if (this.#state === 'paused' && this.#waiting.length <= maxWaiting / 2) {
      this.#state = 'detached';
      void this.attach();
    }
    return event;
  }

  /** What waits is still handed out. */
  #end(failure: Error | undefined): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#failure = failure;
    this.#source.ended(this);
    this.#wake();
  }
}
