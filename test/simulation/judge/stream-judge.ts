/* P12 on what subscribers receive, and P5: an event is published only after its commit. */
import { isOwner, logOf, newestMoment } from './books.ts';
import type { Books } from './books.ts';
import type { ProcessView } from './rows.ts';

export interface StreamedEvent {
  readonly sessionId: string;
  readonly seq: number;
  readonly type: string;
  readonly epoch: number;
  readonly admissionId: string | null;
}

/** A session's deletion takes with it what a subscriber has not heard yet. */
function followsOn(lastSeq: number, { seq, type }: StreamedEvent): boolean {
  return seq === lastSeq + 1 || (type === 'session.deleted' && seq > lastSeq);
}

/** One subscription on its way from a cursor on. */
export class JudgedStream {
  readonly #books: Books;
  readonly #sessionId: string;
  readonly #beganDeleted: boolean;
  #lastSeq: number;

  constructor(books: Books, sessionId: string, afterSeq: number) {
    this.#books = books;
    this.#sessionId = sessionId;
    this.#lastSeq = afterSeq;
    this.#beganDeleted = newestMoment(books, sessionId).deleted;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The gateway hands an event over. */
  published(event: StreamedEvent): void {
    const { verdict } = this.#books;
    const { type, seq } = event;
    const isLeft = !this.#beganDeleted || type === 'session.deleted';
    verdict.hold(isLeft, 'deletion', () => `${type} ${seq} of the deleted ${this.#sessionId} was published`);
    verdict.hold(followsOn(this.#lastSeq, event), 'P12', () => `${type} ${seq} follows on ${this.#lastSeq}`);
    this.#lastSeq = seq;
    const row = logOf(this.#books, this.#sessionId)[seq - 1];
    const same = row?.type === type && row.epoch === event.epoch && row.admissionId === event.admissionId;
    verdict.hold(
      same,
      'P5',
      () => `${type} ${seq} of ${this.#sessionId} was published and is not stored (${row?.type})`,
    );
  }

  /** The gateway ends the subscription and says how far it came. */
  gap(lastSeq: number): void {
    const { verdict } = this.#books;
    verdict.hold(lastSeq === this.#lastSeq, 'P12', () => `a gap after ${lastSeq} was told after ${this.#lastSeq}`);
  }

  /** A piece of an answer is passed on while it comes. */
  live(
    process: ProcessView,
    delta: {
      readonly type: string;
      readonly admissionId: string | null;
      readonly executionGeneration: number;
      readonly offset?: number;
      readonly text?: string;
    },
  ): void {
    if (delta.type !== 'message.delta' || !isOwner(this.#books, process)) return;
    const { offset = 0, text = '' } = delta;
    const exchanges = this.#books.turnRequests.get(delta.admissionId ?? '') ?? [];
    const isTrue = exchanges.some(({ said }) => said.join('').slice(offset, offset + text.length) === text);
    this.#books.verdict.hold(isTrue, 'P5', () => `a delta of ${delta.admissionId} says what nobody said`);
  }
}

/** A client that keeps its place in a session's events over all its subscriptions. */
export class JudgedReader {
  readonly #books: Books;
  readonly #sessionId: string;
  #cursor = 0;

  constructor(books: Books, sessionId: string) {
    this.#books = books;
    this.#sessionId = sessionId;
  }

  get cursor(): number {
    return this.#cursor;
  }

  /** A snapshot takes the reader to its instant. */
  moveTo(seq: number): void {
    this.#cursor = seq;
  }

  received(event: StreamedEvent): void {
    const { seq, type } = event;
    const { verdict } = this.#books;
    verdict.hold(followsOn(this.#cursor, event), 'P12', () => `a client got ${type} ${seq} after ${this.#cursor}`);
    this.#cursor = seq;
  }

  /** Everything has come to rest and the reader listens to a living owner. */
  atRest(): void {
    const { verdict, store } = this.#books;
    // Whoever was behind when it was deleted is told that it is gone, and no more.
    if (newestMoment(this.#books, this.#sessionId).deleted) return;
    const newest = store.session(this.#sessionId)?.seq ?? 0;
    verdict.hold(
      this.#cursor === newest,
      'P12',
      () => `a client stands at ${this.#cursor} of ${newest} events at rest`,
    );
  }
}
