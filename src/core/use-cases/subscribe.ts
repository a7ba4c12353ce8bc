import type { SessionEvent } from '../domain/session/events.ts';
import type { EventHub, LiveEvent } from '../ports/event-hub.ts';
import type { SessionQueries } from '../ports/session-queries.ts';

/** Where a subscription's events go. */
export interface EventSink {
  /** False: the receiver's backlog is full. The subscription has then ended and `gap` is called. */
  durable(event: SessionEvent): boolean;
  live(event: LiveEvent): boolean;
  /** The subscription ended because the receiver was too slow; it may subscribe again after `lastSeq`. */
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
 * S1: an event is delivered only if it is the next one; a hole sends the subscription back to the log.
 * S2: live events are delivered only while nothing durable is missing.
 * S3: the past is read page by page, and the next page only when the receiver has taken the last one.
 */
export type Subscribe = (input: {
  readonly sessionId: string;
  readonly afterSeq: number;
  readonly sink: EventSink;
}) => Subscription;

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
    const stop = deps.hub.listen(sessionId, { durable: follow, live });
    startReading();
    return { sessionId, close };

    function follow(events: readonly SessionEvent[]): void {
      newestSeq = Math.max(newestSeq, events.at(-1)?.seq ?? 0);
      if (mode !== 'following') return;
      for (const event of events) {
        if (event.seq > lastSeq + 1) {
          startReading();
          return;
        }
        if (event.seq === lastSeq + 1 && !deliver(event)) return;
      }
    }

    function live(event: LiveEvent): void {
      if (mode === 'following' && !sink.live(event)) overflowed();
    }

    function deliver(event: SessionEvent): boolean {
      if (!sink.durable(event)) {
        overflowed();
        return false;
      }
      lastSeq = event.seq;
      return true;
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
        const page = await deps.queries.events({ sessionId, afterSeq: lastSeq, limit: deps.pageSize });
        if (isClosed()) return;
        newestSeq = Math.max(newestSeq, page.lastSeq);
        for (const event of page.events) if (!deliver(event)) return;
        if (lastSeq >= newestSeq) {
          mode = 'following';
          return;
        }
      }
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
