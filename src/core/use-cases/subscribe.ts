import type { SessionEvent } from '../domain/session/events.ts';
import type { EventHub, LiveEvent } from '../ports/event-hub.ts';
import type { SessionQueries } from '../ports/session-queries.ts';

/** Where a subscription's events go. */
export interface EventSink {
  /**
   * False: the receiver's backlog is full. The subscription has then ended and `gap` is called. It has also ended with
   * `session.deleted`, after which nothing comes.
   */
  durable(event: SessionEvent): boolean;
  live(event: LiveEvent): boolean;
  /** The subscription ended because the receiver was too slow, or the log unreadable; it may subscribe again after `lastSeq`. */
  gap(lastSeq: number): void;
  /** Resolves when the receiver can take another page of the past. */
  drained(): Promise<void>;
}

export interface Subscription {
  readonly sessionId: string;
  close(): void;
}

/**
 * Sends a session's durable events after `afterSeq`, each once and in order (P12), then goes on with what happens.
 *
 * S1: an event is delivered only if it is the next one; a hole sends the subscription back to the log. A log that has the
 *     hole itself, or has lost what was heard of, ends the subscription.
 * S2: live events are delivered only while nothing durable is missing. Those that come while the past is read wait,
 *     and are dropped when something durable follows them.
 * S3: the past is read page by page, and an event is sent only when the receiver has room for it.
 * S4: `session.deleted` follows on any event, because those between are gone with the session. It is the last one.
 */
export type Subscribe = (input: {
  readonly sessionId: string;
  readonly afterSeq: number;
  readonly sink: EventSink;
}) => Subscription;

/** Live events that wait while the past is read; beyond it they are dropped, as for any slow receiver. */
const maxWaitingLive = 1000;

export function makeSubscribe(deps: {
  readonly hub: EventHub;
  readonly queries: SessionQueries;
  readonly onError: (error: unknown) => void;
  readonly pageSize: number;
}): Subscribe {
  return ({ sessionId, afterSeq, sink }) => {
    let lastSeq = afterSeq;
    let newestSeq = afterSeq;
    let mode: 'reading' | 'following' | 'closed' = 'following';
    let waitingLive: LiveEvent[] = [];
    const stop = deps.hub.listen(sessionId, { durable: follow, live });
    startReading();
    return { sessionId, close };

    function follow(events: readonly SessionEvent[]): void {
      newestSeq = Math.max(newestSeq, events.at(-1)?.seq ?? 0);
      if (mode !== 'following') {
        waitingLive = [];
        return;
      }
      for (const event of events) {
        if (event.seq <= lastSeq) continue;
        if (!isNext(event)) {
          startReading();
          return;
        }
        if (!deliver(event)) return;
      }
    }

    function live(event: LiveEvent): void {
      if (mode === 'following' && !sink.live(event)) overflowed();
      if (mode === 'reading' && waitingLive.length < maxWaitingLive) waitingLive.push(event);
    }

    function isNext(event: SessionEvent): boolean {
      return event.seq === lastSeq + 1 || event.type === 'session.deleted';
    }

    /** Whether there may be more. */
    function deliver(event: SessionEvent): boolean {
      if (!sink.durable(event)) {
        overflowed();
        return false;
      }
      lastSeq = event.seq;
      if (event.type === 'session.deleted') close();
      return !isClosed();
    }

    function startReading(): void {
      mode = 'reading';
      readOn().catch((error: unknown) => {
        if (mode === 'closed') return;
        deps.onError(error);
        overflowed();
      });
    }

    async function readOn(): Promise<void> {
      for (;;) {
        await sink.drained();
        if (isClosed()) return;
        // What was heard of before the page is asked for is committed, so the log has it.
        const heardSeq = newestSeq;
        const page = await deps.queries.events({ sessionId, afterSeq: lastSeq, limit: deps.pageSize });
        if (isClosed()) return;
        newestSeq = Math.max(newestSeq, page.lastSeq);
        const [first] = page.events;
        const isBroken = first === undefined ? lastSeq < Math.max(heardSeq, page.lastSeq) : !isNext(first);
        if (isBroken) {
          overflowed();
          return;
        }
        for (const event of page.events) {
          await sink.drained();
          if (isClosed() || !deliver(event)) return;
        }
        if (lastSeq >= newestSeq) {
          goOnLive();
          return;
        }
      }
    }

    function goOnLive(): void {
      mode = 'following';
      const waiting = waitingLive;
      waitingLive = [];
      for (const event of waiting) if (!isClosed()) live(event);
    }

    function overflowed(): void {
      close();
      sink.gap(lastSeq);
    }

    function isClosed(): boolean {
      return mode === 'closed';
    }

    function close(): void {
      mode = 'closed';
      stop();
    }
  };
}
