/* P1, P2, P5, P8 and P13 on what clients are told, at the moment at which it leaves the gateway. */
import { isOwner, logOf, wasOnce } from './books.ts';
import type { Books } from './books.ts';
import type { Asked, Heard, HeardByHand, ReceiptView, ResponseView, SnapshotView } from './calls.ts';
import { nameOf } from './admissions.ts';
import { judgeResponse } from './approval-judge.ts';
import type { Responded } from './approval-judge.ts';
import { judgeCancelled, judgeInterrupted, judgeReceiptGiven, judgeResolved } from './control-judge.ts';
import type { Cancelled, Interrupted, InterruptView, ResolutionView, Resolved } from './control-judge.ts';
import { judgeForked } from './fork-judge.ts';
import type { Forked } from './fork-judge.ts';
import { judgeEdited, judgeMoved } from './queue-judge.ts';
import type { Edited, Moved } from './queue-judge.ts';
import { judgeFound, judgeHistory, judgeLineageRead } from './read-judge.ts';
import type { FoundView, HistoryView, LineageView, Searched } from './read-judge.ts';
import { judgeReceipt } from './receipt-judge.ts';
import { isOfDeleted, judgeDeletion, judgeUpdated } from './session-judge.ts';
import type { Updated } from './session-judge.ts';
import { judgeSnapshot } from './snapshot-judge.ts';
import { judgeSubmitRefusal, submittedText } from './submit-judge.ts';
import type { Submitted } from './submit-judge.ts';
import type { Moment } from './moments.ts';
import type { ProcessView } from './rows.ts';

export class ClientJudge {
  readonly #books: Books;
  /** What a key stands for, since it was acknowledged: `<principal>/<session>/<input id>`. */
  readonly #accepted = new Map<string, { readonly admissionId: string; fresh: boolean }>();
  /** The session of a create request: `<principal>/<request id>`. */
  readonly #created = new Map<string, { readonly sessionId: string; readonly variant: Variant; fresh: boolean }>();
  /** The requests for approval whose answer was acknowledged as the first. */
  readonly #answered = new Set<string>();
  readonly #deletionsAnswered = new Set<string>();
  /** What a compression by hand came to: `<principal>/<session>/<request id>`. */
  readonly #compressed = new Map<string, string>();
  /** The newest sequence number of which a process has told anybody: `<process>/<session>`. */
  readonly #told = new Map<string, number>();

  constructor(books: Books) {
    this.#books = books;
  }

  created(
    asked: { readonly principalId: string; readonly requestId: string; readonly variant: Variant },
    heard: Heard<{ readonly sessionId: string; readonly created: boolean }>,
  ): void {
    const { verdict, store } = this.#books;
    const key = `${asked.principalId}/${asked.requestId}`;
    const known = this.#created.get(key);
    if (heard.kind === 'unavailable') return;
    if (heard.kind === 'refused') {
      const { reason } = heard.refusal;
      const isConflict = reason === 'request_conflict' && known?.variant !== asked.variant;
      verdict.hold(isConflict, 'P2', () => `a create was refused as ${reason}`);
      return;
    }
    const { sessionId, created } = heard.reply;
    verdict.hold(
      store.session(sessionId) !== null,
      'P1',
      () => `session ${sessionId} was acknowledged and isn't stored`,
    );
    this.#created.set(key, { sessionId, variant: asked.variant, fresh: created || known?.fresh === true });
    if (known === undefined) return;
    verdict.hold(known.sessionId === sessionId, 'P2', () => `${key} made ${known.sessionId} and ${sessionId}`);
    verdict.hold(known.variant === asked.variant, 'P2', () => `${key} was repeated with other parameters`);
    verdict.hold(!(created && known.fresh), 'P2', () => `${key} was made twice`);
  }

  /** The session that a create request was told to have made. */
  createdBy(principalId: string, requestId: string): string | null {
    return this.#created.get(`${principalId}/${requestId}`)?.sessionId ?? null;
  }

  submitted(process: ProcessView, asked: Submitted, heard: Heard<ReceiptView>): void {
    const { verdict } = this.#books;
    const key = `${asked.principalId}/${asked.sessionId}/${asked.inputId}`;
    const known = this.#accepted.get(key);
    if (heard.kind === 'done') {
      const { admission, duplicate } = heard.reply;
      const row = judgeReceipt(this.#books, process, asked, heard.reply);
      const itsOwn = row?.inputId === asked.inputId && row.principalId === asked.principalId;
      verdict.hold(itsOwn, 'P2', () => `${key} was answered with ${nameOf(row)}`);
      const stored = submittedText(this.#books, asked, admission.admissionId);
      verdict.hold(stored === asked.text, 'P2', () => `${key} stands for another text`);
      verdict.hold(
        (known?.admissionId ?? admission.admissionId) === admission.admissionId,
        'P2',
        () => `${key} is ${known?.admissionId} and ${admission.admissionId}`,
      );
      verdict.hold(duplicate || known?.fresh !== true, 'P2', () => `${key} was accepted twice`);
      this.#accepted.set(key, { admissionId: admission.admissionId, fresh: !duplicate || known?.fresh === true });
      return;
    }
    if (heard.kind === 'refused') judgeSubmitRefusal(this.#books, process, asked, heard.refusal.reason);
  }

  receiptGiven(process: ProcessView, asked: Asked & { readonly inputId: string }, heard: Heard<ReceiptView>): void {
    judgeReceiptGiven(this.#books, process, asked, heard);
  }

  cancelled(process: ProcessView, asked: Cancelled, heard: Heard<ReceiptView>): void {
    judgeCancelled(this.#books, process, asked, heard);
  }

  interrupted(process: ProcessView, asked: Interrupted, heard: Heard<InterruptView>): void {
    judgeInterrupted(this.#books, process, asked, heard);
  }

  resolved(process: ProcessView, asked: Resolved, heard: Heard<ResolutionView>): void {
    judgeResolved(this.#books, process, asked, heard);
  }

  snapshot(process: ProcessView, asked: Asked & { readonly limit: number }, snapshot: SnapshotView | null): void {
    judgeSnapshot(this.#books, process, asked, snapshot);
  }

  /** The first answer may be told after one that repeats it: a process that was paused tells what it had stored. */
  responded(process: ProcessView, asked: Responded, heard: Heard<ResponseView>): void {
    judgeResponse(this.#books, process, asked, heard);
    if (heard.kind !== 'done' || heard.reply.duplicate) return;
    const { approvalId } = asked;
    const isFirst = !this.#answered.has(approvalId);
    this.#books.verdict.hold(isFirst, 'P2', () => `an answer to ${approvalId} was acknowledged twice as the first`);
    this.#answered.add(approvalId);
  }

  /** A request id stands for one compression for ever, and what is told of it is stored. */
  compressed(
    process: ProcessView,
    asked: Asked & { readonly requestId: string; readonly focus: string | null },
    heard: HeardByHand,
  ): void {
    const { verdict } = this.#books;
    const key = `${asked.principalId}/${asked.sessionId}/${asked.requestId}`;
    const events = logOf(this.#books, asked.sessionId);
    const started = events.filter(
      ({ request }) => request?.requestId === asked.requestId && request.principalId === asked.principalId,
    );
    verdict.hold(started.length <= 1, 'P2', () => `${key} was started ${started.length} times`);
    if (heard.kind === 'compressed' || heard.kind === 'failed') {
      const { compressionId } = heard.record;
      verdict.hold(
        started[0]?.compressionId === compressionId,
        'P2',
        () => `${key} was answered with ${compressionId}`,
      );
      const end = heard.kind === 'compressed' ? 'compression.completed' : 'compression.failed';
      const isStored = events.some((event) => event.type === end && event.compressionId === compressionId);
      verdict.hold(isStored, 'P1', () => `${key} was told its ${end}, which isn't stored`);
      const known = this.#compressed.get(key) ?? heard.kind;
      verdict.hold(known === heard.kind, 'P5', () => `${key} was ${known} and is ${heard.kind}`);
      this.#compressed.set(key, heard.kind);
    } else if (heard.kind === 'request_conflict') {
      verdict.hold(started.length === 1, 'P2', () => `${key} was called a conflict with nothing`);
    } else if (heard.kind === 'refused' && isOwner(this.#books, process)) {
      this.#judgeCompressRefusal(process, asked, heard.refusal.reason);
    }
  }

  #judgeCompressRefusal(process: ProcessView, asked: Asked, reason: string): void {
    const { verdict } = this.#books;
    const isBusy = ({ admissions, compressing }: Moment): boolean =>
      compressing !== null ||
      [...admissions.values()].some(({ status }) => status === 'started' || status === 'unknown');
    const isRight =
      reason === 'session_busy' ? this.#wasOnce(asked, isBusy) : reason === 'draining' && process.draining;
    verdict.hold(isRight, 'P5', () => `a compression of ${asked.sessionId} was refused as ${reason}`);
  }

  /** Whether a deletion explains the answer; then nothing else is to be said of it. */
  explains(process: ProcessView, asked: Asked & { readonly do: string }, heard: AnyAnswer): boolean {
    const isExplained = isOfDeleted(this.#books, process, asked, heard);
    const isRight = isExplained || heard.kind !== 'not_found' || !isOwner(this.#books, process);
    this.#books.verdict.hold(isRight, 'P8', () => `${asked.do} did not find ${asked.address}`);
    return isExplained;
  }

  edited(process: ProcessView, asked: Edited, heard: Heard<ReceiptView>): void {
    judgeEdited(this.#books, process, asked, heard);
  }

  moved(process: ProcessView, asked: Moved, heard: Heard<ReceiptView>): void {
    judgeMoved(this.#books, process, asked, heard);
  }

  updated(process: ProcessView, asked: Updated, heard: Heard<{ readonly revision: number }>): void {
    judgeUpdated(this.#books, process, asked, heard);
  }

  deleted(process: ProcessView, asked: Asked, heard: Heard<object>): void {
    judgeDeletion(this.#books, process, asked, heard);
    if (heard.kind !== 'done') return;
    this.#deletionsAnswered.add(asked.sessionId);
    this.told(process, asked.sessionId, logOf(this.#books, asked.sessionId).at(-1)?.seq ?? 0);
  }

  wasDeletionAnswered(sessionId: string): boolean {
    return this.#deletionsAnswered.has(sessionId);
  }

  /** The sessions whose deletion is durable. */
  deletedSessions(): ReadonlySet<string> {
    const { moments } = this.#books;
    return new Set([...moments].filter(([, all]) => all.at(-1)?.deleted === true).map(([sessionId]) => sessionId));
  }

  forked(
    process: ProcessView,
    asked: Forked & { readonly requestId: string },
    heard: Heard<{ readonly sessionId: string; readonly created: boolean }>,
  ): void {
    judgeForked(this.#books, process, asked, heard);
    const { requestId, sessionId, messageId } = asked;
    const isNotFound = heard.kind === 'refused' && heard.refusal.reason === 'not_found';
    if (isNotFound) return;
    this.created({ principalId: 'local', requestId, variant: `${sessionId} at ${messageId}` }, heard);
  }

  historyRead(asked: Asked, entries: readonly HistoryView[]): void {
    judgeHistory(this.#books, asked, entries);
  }

  lineageRead(asked: Asked, lineage: LineageView): void {
    judgeLineageRead(this.#books, asked, lineage);
  }

  found(asked: Searched, hits: readonly FoundView[]): void {
    judgeFound(this.#books, asked, hits);
  }

  revised(asked: Asked, heard: Heard<{ readonly revision: number }>): void {
    const { verdict, store } = this.#books;
    if (heard.kind !== 'done') return;
    const revision = store.session(asked.sessionId)?.revision ?? 0;
    verdict.hold(revision >= heard.reply.revision, 'P1', () => 'a hold or release was acknowledged and is not stored');
  }

  /** The newest event of which this process has told anybody. */
  toldSeq(process: ProcessView, sessionId: string): number {
    return this.#told.get(`${process.name}/${sessionId}`) ?? 0;
  }

  /** A durable event of this sequence number has left the process. */
  told(process: ProcessView, sessionId: string, seq: number): void {
    const key = `${process.name}/${sessionId}`;
    this.#told.set(key, Math.max(seq, this.#told.get(key) ?? 0));
  }

  #wasOnce(asked: Asked, isTrue: (moment: Moment) => boolean): boolean {
    return wasOnce(this.#books, asked, isTrue);
  }
}

interface AnyAnswer {
  readonly kind: string;
  readonly refusal?: { readonly reason: string };
}

/** The parameters of a creation, beyond its request id. */
type Variant = number | string;
