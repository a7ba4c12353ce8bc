/*
 * A small independent model of the promises P1 to P13. It shares no code with the program: it sees what is committed,
 * what clients are told, what the model servers are asked, and says what is wrong with it.
 *
 * J1: it looks after every append, not only at the end.
 * J2: what it expects comes from what it has seen, never from what the program says about itself.
 */
import { emptyBooks, isOwner } from './books.ts';
import type { Books } from './books.ts';
import { nameOf } from './admissions.ts';
import { ClientJudge } from './client-judge.ts';
import { RequestJudge } from './request-judge.ts';
import type { JudgedLimits, ProcessView, StoreView } from './rows.ts';
import { StoreJudge } from './store-judge.ts';
import { JudgedReader, JudgedStream } from './stream-judge.ts';
import { ToolJudge } from './tool-judge.ts';
import { Verdict } from './verdict.ts';
import type { Broken } from './verdict.ts';

export class Judge {
  readonly store: StoreJudge;
  readonly requests: RequestJudge;
  readonly tools: ToolJudge;
  readonly clients: ClientJudge;
  readonly #books: Books;

  constructor(view: StoreView, limits: JudgedLimits, now: () => number) {
    this.#books = emptyBooks(new Verdict(now), view, limits);
    this.store = new StoreJudge(this.#books);
    this.requests = new RequestJudge(this.#books);
    this.tools = new ToolJudge(this.#books);
    this.clients = new ClientJudge(this.#books);
  }

  get broken(): Broken | null {
    return this.#books.verdict.broken;
  }

  breach: Verdict['breach'] = (rule, message) => {
    this.#books.verdict.breach(rule, message);
  };

  stream(sessionId: string, afterSeq: number): JudgedStream {
    return new JudgedStream(this.#books, sessionId, afterSeq);
  }

  reader(sessionId: string): JudgedReader {
    return new JudgedReader(this.#books, sessionId);
  }

  /** A process says that it has recovered: nothing of a lost owner is left as it was. */
  ready(process: ProcessView): void {
    if (!isOwner(this.#books, process)) return;
    const { verdict, store } = this.#books;
    const epoch = store.epoch();
    for (const sessionId of store.sessionIds()) {
      for (const row of store.admissions(sessionId).values()) {
        const left = row.status === 'started' && (row.ownerEpoch ?? 0) < epoch;
        verdict.hold(!left, 'P4', () => `${nameOf(row)} is still started after the recovery of epoch ${epoch}`);
      }
      for (const { approvalId, admissionId, resolution } of store.approvals(sessionId)) {
        const row = store.admissions(sessionId).get(admissionId);
        const waits = resolution !== null || (row?.status === 'started' && row.ownerEpoch === epoch);
        verdict.hold(waits, 'P5', () => `${approvalId} is still open after the recovery of epoch ${epoch}`);
      }
      const open = store.session(sessionId)?.openCompression;
      const left = (open?.epoch ?? epoch) < epoch;
      verdict.hold(!left, 'P9', () => `a compression of epoch ${open?.epoch} is still open in epoch ${epoch}`);
    }
  }

  /** A process decides to start a turn. */
  starts(process: ProcessView): void {
    this.#books.verdict.hold(!process.draining, 'stop', () => `${process.name} starts a turn although it stops`);
  }

  /** A process has stopped gracefully: everything that it ran has an end. */
  stopped(process: ProcessView): void {
    const { verdict, store } = this.#books;
    for (const sessionId of store.sessionIds()) {
      for (const row of store.admissions(sessionId).values()) {
        const left = row.status === 'started' && row.ownerEpoch === process.epoch;
        verdict.hold(!left, 'stop', () => `${nameOf(row)} is still started after a graceful stop`);
      }
      const open = store.session(sessionId)?.openCompression;
      const isOpen = open !== null && open !== undefined && open.epoch === process.epoch;
      verdict.hold(!isOpen, 'stop', () => `a compression of ${sessionId} is still open after a graceful stop`);
    }
  }

  /** Nothing happens any more and a living owner is there: what could run has run (P6). */
  atRest(): void {
    const { verdict, store } = this.#books;
    for (const sessionId of store.sessionIds()) {
      const rows = [...store.admissions(sessionId).values()];
      const session = store.session(sessionId);
      const started = rows.find(({ status }) => status === 'started');
      verdict.hold(started === undefined, 'P6', () => `${nameOf(started)} never ended`);
      verdict.hold(
        (session?.openCompression ?? null) === null,
        'P9',
        () => `a compression of ${sessionId} never ended`,
      );
      const blocked = session?.held === true || rows.some(({ status }) => status === 'unknown');
      const waiting = rows.find(({ status }) => status === 'queued');
      // Where nobody waits, a hold may stay until somebody comes.
      const forgotten = session !== null && session.heldUntil !== null && waiting !== undefined;
      verdict.hold(!forgotten, 'P6', () => `the hold of ${sessionId} until ${session?.heldUntil} never ended`);
      verdict.hold(blocked || waiting === undefined, 'P6', () => `${nameOf(waiting)} never ran, and nothing blocks it`);
    }
  }

  /** Every block was lifted before the rest: nobody may be left. */
  atTheEnd(): void {
    const { verdict, store } = this.#books;
    for (const sessionId of store.sessionIds()) {
      for (const row of store.admissions(sessionId).values()) {
        verdict.hold(row.status === 'terminal', 'P6', () => `${nameOf(row)} has no end although nothing blocks it`);
      }
    }
    this.store.atTheEnd();
  }
}
