/* P1, P2, P4 and P5 on what aims at one prompt or turn: asking for its receipt, cancelling, interrupting, resolving. */
import { nameOf } from './admissions.ts';
import { admissionOf, isOwner, logOf, statusOfTurn, turnKey, wasMissing, wasOnce, wasRightlyRefused } from './books.ts';
import type { Books } from './books.ts';
import type { Asked, Heard, ReceiptView } from './calls.ts';
import type { Moment } from './moments.ts';
import { judgeReceipt } from './receipt-judge.ts';
import type { EventRow, ProcessView } from './rows.ts';

export type Cancelled = Asked & { readonly inputId: string; readonly revision: number | null };
export type Interrupted = Asked & { readonly executionGeneration: number };
export type Resolved = Asked & {
  readonly admissionId: string;
  readonly executionGeneration: number;
  readonly action: string;
};
export interface InterruptView {
  readonly executionGeneration: number;
  readonly admissionId: string | null;
}
export interface ResolutionView {
  readonly receipt: ReceiptView;
  readonly retry: ReceiptView | null;
}

export function judgeReceiptGiven(
  books: Books,
  process: ProcessView,
  asked: Asked & { readonly inputId: string },
  heard: Heard<ReceiptView>,
): void {
  if (heard.kind === 'done') judgeReceipt(books, process, asked, heard.reply);
  if (heard.kind !== 'refused') return;
  judgeNotFound(books, process, asked, heard.refusal.reason);
}

export function judgeCancelled(books: Books, process: ProcessView, asked: Cancelled, heard: Heard<ReceiptView>): void {
  const { verdict } = books;
  if (heard.kind === 'done') {
    const row = judgeReceipt(books, process, asked, heard.reply);
    verdict.hold(row?.outcome === 'cancelled', 'P5', () => `a cancel of ${nameOf(row)} was acknowledged`);
  }
  if (heard.kind !== 'refused') return;
  const row = admissionOf(books, asked);
  const { reason } = heard.refusal;
  if (reason === 'not_queued') {
    const wasOut = wasOnce(
      books,
      asked,
      ({ admissions }) => admissions.get(row?.admissionId ?? '')?.status !== 'queued',
    );
    verdict.hold(wasOut || !isOwner(books, process), 'P5', () => `${nameOf(row)} was called not_queued`);
  } else if (reason === 'revision_conflict') {
    const hadOther = wasOnce(
      books,
      asked,
      ({ admissions }) => admissions.get(row?.admissionId ?? '')?.revision !== asked.revision,
    );
    verdict.hold(hadOther, 'P5', () => `${nameOf(row)} has the revision that was called stale`);
  } else judgeNotFound(books, process, asked, reason);
}

export function judgeInterrupted(
  books: Books,
  process: ProcessView,
  asked: Interrupted,
  heard: Heard<InterruptView>,
): void {
  const { verdict, store, stops } = books;
  const { sessionId, executionGeneration } = asked;
  const row = [...store.admissions(sessionId).values()].find(
    (other) => other.executionGeneration === executionGeneration && other.status !== 'queued',
  );
  if (heard.kind === 'done' && heard.reply.admissionId === null) {
    const isEnd = ({ type, executionGeneration: of }: EventRow): boolean =>
      type === 'compression.failed' && of === executionGeneration;
    const hasEnded = logOf(books, sessionId).some(isEnd);
    verdict.hold(hasEnded, 'P5', () => `the stop of the compression ${executionGeneration} is not stored`);
    stops.add(turnKey(sessionId, executionGeneration));
  } else if (heard.kind === 'done') {
    const hit = row?.admissionId === heard.reply.admissionId && row.stopRequested !== null;
    verdict.hold(hit, 'P5', () => `the stop of generation ${executionGeneration} was acknowledged for ${nameOf(row)}`);
    stops.add(turnKey(sessionId, executionGeneration));
  } else if (heard.kind === 'refused' && isOwner(books, process)) {
    const { reason } = heard.refusal;
    const isRight = wasRightlyRefused(books, asked, reason, {
      turn_over: (moment) =>
        !['started', 'unknown'].includes(statusOfTurn(moment, executionGeneration)) &&
        !(moment.compressing?.byHand === true && moment.compressing.executionGeneration === executionGeneration),
      stale_generation: (moment) => moment.executionGeneration < executionGeneration,
      unknown_execution: (moment) => statusOfTurn(moment, executionGeneration) === 'unknown',
    });
    verdict.hold(isRight, 'P5', () => `an interrupt of ${nameOf(row)} was refused as ${reason}`);
  }
}

export function judgeResolved(books: Books, process: ProcessView, asked: Resolved, heard: Heard<ResolutionView>): void {
  const { verdict, store } = books;
  const row = store.admissions(asked.sessionId).get(asked.admissionId);
  if (heard.kind === 'done') {
    judgeReceipt(books, process, asked, heard.reply.receipt);
    verdict.hold(
      row?.resolution?.action === asked.action,
      'P1',
      () => `${asked.action} of ${nameOf(row)} is not stored`,
    );
    verdict.hold(
      row?.executionGeneration === asked.executionGeneration,
      'P4',
      () => `${nameOf(row)} was resolved with another generation`,
    );
    const retryId = heard.reply.retry?.admission.admissionId ?? null;
    verdict.hold(retryId === (row?.retriedBy ?? null), 'P2', () => `the retry ${row?.retriedBy} was called ${retryId}`);
  } else if (heard.kind === 'refused' && isOwner(books, process)) {
    const { reason } = heard.refusal;
    const lifeAt = ({ admissions }: Moment) => admissions.get(asked.admissionId);
    const isRight = wasRightlyRefused(books, asked, reason, {
      not_found: (moment) => lifeAt(moment) === undefined,
      not_unknown: (moment) => lifeAt(moment)?.status !== 'unknown',
      already_resolved: () => row?.resolution?.action !== asked.action,
      stale_generation: (moment) => lifeAt(moment)?.executionGeneration !== asked.executionGeneration,
    });
    verdict.hold(isRight, 'P4', () => `a resolution of ${nameOf(row)} was refused as ${reason}`);
  }
}

function judgeNotFound(
  books: Books,
  process: ProcessView,
  asked: Asked & { readonly inputId: string },
  reason: string,
): void {
  const { verdict, store } = books;
  const row = admissionOf(books, asked);
  verdict.hold(reason === 'not_found', 'P2', () => `${asked.inputId} was refused as ${reason}`);
  const missing = wasMissing(books, asked, row) || store.session(asked.sessionId) === null;
  verdict.hold(missing || !isOwner(books, process), 'P2', () => `${nameOf(row)} was not found`);
}
