import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { EventHub, HubListener, LiveEvent } from '../../../core/ports/event-hub.ts';
import type { Logger } from '../../../core/ports/logger.ts';

/**
 * The event hub of one process. It serves production too: what must survive is in the log, not here.
 *
 * H1: events reach every listener in the order in which they were published, also when a listener publishes or
 *     unsubscribes while it is called.
 * H2: a listener hears what is published between `listen` and its end, and nothing else.
 * H3: a listener that throws is logged; the others and the publisher don't notice.
 */
export class MemoryEventHub implements EventHub {
  readonly #logger: Logger;
  readonly #bySession = new Map<string, Set<Subscription>>();
  /** What is published while a delivery runs waits here for its turn (H1). */
  readonly #waiting: (() => void)[] = [];
  #delivering = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  publish(sessionId: string, events: readonly SessionEvent[]): void {
    if (events.length > 0) this.#deliver(sessionId, (listener) => listener.durable(events));
  }

  publishLive(event: LiveEvent): void {
    this.#deliver(event.sessionId, (listener) => listener.live(event));
  }

  hasListeners(sessionId: string): boolean {
    return this.#bySession.has(sessionId);
  }

  listen(sessionId: string, listener: HubListener): () => void {
    const subscriptions = this.#bySession.get(sessionId) ?? new Set();
    const subscription: Subscription = { listener, ended: false };
    this.#bySession.set(sessionId, subscriptions.add(subscription));
    return () => {
      subscription.ended = true;
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && this.#bySession.get(sessionId) === subscriptions)
        this.#bySession.delete(sessionId);
    };
  }

  #deliver(sessionId: string, call: (listener: HubListener) => void): void {
    const audience = [...(this.#bySession.get(sessionId) ?? [])];
    if (audience.length === 0) return;
    this.#waiting.push(() => {
      for (const subscription of audience) if (!subscription.ended) this.#callSafely(sessionId, subscription, call);
    });
    if (!this.#delivering) this.#drain();
  }

  #drain(): void {
    this.#delivering = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) next();
    this.#delivering = false;
  }

  #callSafely(sessionId: string, subscription: Subscription, call: (listener: HubListener) => void): void {
    try {
      call(subscription.listener);
    } catch (error) {
      this.#logger.error('A listener of the event hub threw', { sessionId, error });
    }
  }
}

interface Subscription {
  readonly listener: HubListener;
  ended: boolean;
}
