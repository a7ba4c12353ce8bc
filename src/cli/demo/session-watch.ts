import { exitCodes } from '../../config/exit-codes.ts';
import type { DurableWireEvent } from '../../protocol/events.ts';
import type { EventFeed, SessionEvent } from '../../client/event-feed.ts';
import { CliFailure } from '../failure.ts';

type EventType = SessionEvent['type'];
type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;

/** Nothing of the demo takes so long, on a busy machine either. */
const longestWaitMs = 45_000;

/** Keeps what a session's feed brings, and waits for what is to come. It lives as long as its connection. */
export class SessionWatch {
  readonly #events: SessionEvent[] = [];
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(feed: Pick<EventFeed, 'forEach'>) {
    void this.#keep(feed);
  }

  /** The durable events that have arrived, in order. */
  get durable(): readonly DurableWireEvent[] {
    return this.#events.filter((event) => 'seq' in event);
  }

  /** What the model has said for an admission so far. */
  heard(admissionId: string): string {
    return this.#events
      .flatMap((event) =>
        event.type === 'message.delta' && event.admission_id === admissionId ? [event.payload.text] : [],
      )
      .join('');
  }

  /** The first event of a type, past or to come, that belongs to an admission and meets the condition. */
  async until<T extends EventType>(
    type: T,
    admissionId: string,
    meets: (event: EventOf<T>) => boolean = () => true,
  ): Promise<EventOf<T>> {
    const deadlineMs = performance.now() + longestWaitMs;
    const isSought = (event: SessionEvent): event is EventOf<T> =>
      event.type === type && event.admission_id === admissionId && meets(event as EventOf<T>); // its type was compared
    for (;;) {
      const found = this.#events.find(isSought);
      if (found !== undefined) return found;
      if (this.#isOver) throw missing(type, 'before the connection was lost');
      if (!(await this.#next(deadlineMs - performance.now()))) {
        throw missing(type, `within ${longestWaitMs / 1_000} seconds`);
      }
    }
  }

  async #keep(feed: Pick<EventFeed, 'forEach'>): Promise<void> {
    try {
      await feed.forEach((event) => {
        this.#events.push(event);
        this.#wake();
      });
    } catch {
      // The feed could not go on. Whoever waits for an event is told that it never came.
    }
    this.#isOver = true;
    this.#wake();
  }

  /** False when the time is over before anything else happens. */
  #next(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        resolve(false);
      }, withinMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

function missing(type: EventType, when: string): CliFailure {
  return new CliFailure(exitCodes.internal, 'missing_event', `The event ${type} did not arrive ${when}.`);
}
