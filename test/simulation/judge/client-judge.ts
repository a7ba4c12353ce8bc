/* P1, P2, P5, P8 and P13 on what clients are told, at the moment at which it leaves the gateway. */
import { isOwner, logOf, newestMoment, turnKey, wasOnce } from './books.ts';
import type { Books } from './books.ts';
import type { Asked, Heard, HeardByHand, ReceiptView, ResponseView, SnapshotView } from './calls.ts';
import { nameOf } from './admissions.ts';
import { judgeResponse } from './approval-judge.ts';
import type { Responded } from './approval-judge.ts';
import { judgeForked } from './fork-judge.ts';
import type { Forked } from './fork-judge.ts';
import { judgeEdited, judgeMoved } from './queue-judge.ts';
import type { Edited, Moved } from './queue-judge.ts';
import { judgeFound, judgeHistory, judgeLineageRead } from './read-judge.ts';
import type { FoundView, HistoryView, LineageView, Searched } from './read-judge.ts';
import { judgeReceipt } from './receipt-judge.ts';
import { isOfDeleted, judgeDeletion, judgeUpdated } from './session-judge.ts';
import type { Updated } from './session-judge.ts';
import type { Moment } from './moments.ts';
import type { AdmissionRow, EventRow, ProcessView } from './rows.ts';

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
      const stored = this.#submittedText(asked, admission.admissionId);
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
    if (heard.kind === 'refused') this.#judgeSubmitRefusal(process, asked, heard.refusal.reason);
  }

  #judgeSubmitRefusal(process: ProcessView, asked: Submitted, reason: string): void {
    const { verdict, store, limits } = this.#books;
    const rows = [...store.admissions(asked.sessionId).values()];
    const row = rows.find((other) => other.inputId === asked.inputId && other.principalId === asked.principalId);
    if (reason === 'admission_conflict') {
      const { executionGeneration: generation, ifOver } = asked;
      const isOther = row?.steers?.generation !== generation || row?.steers?.ifOver !== ifOver;
      const differs = row !== undefined && (this.#submittedText(asked, row.admissionId) !== asked.text || isOther);
      verdict.hold(differs, 'P2', () => `${asked.inputId} was called a conflict with itself`);
      return;
    }
    if (!isOwner(this.#books, process)) return;
    verdict.hold(this.#wasMissing(asked, row), 'P2', () => `the known ${asked.inputId} was refused as ${reason}`);
    if (reason === 'queue_full') {
      const wasFull = this.#wasOnce(asked, (moment) => queuedAt(moment) >= limits.maxQueuedPerSession);
      verdict.hold(wasFull, 'P13', () => `${asked.inputId} was refused as queue_full, which the queue never was`);
    } else if (reason === 'draining') {
      verdict.hold(process.draining, 'P13', () => 'draining was answered by a process that serves');
    } else if (asked.executionGeneration !== undefined && reason !== 'not_found') {
      this.#judgeSteerRefusal(asked, asked.executionGeneration, reason);
    } else {
      const missing = reason === 'not_found' && store.session(asked.sessionId) === null;
      verdict.hold(missing, 'P8', () => `a submit to ${asked.address} was refused as ${reason}`);
    }
  }

  #judgeSteerRefusal(asked: Submitted, generation: number, reason: string): void {
    const right: Readonly<Record<string, (moment: Moment) => boolean>> = {
      turn_over: (moment) =>
        !['started', 'unknown'].includes(statusOfTurn(moment, generation)) || isStopped(moment, generation),
      stale_generation: (moment) => moment.executionGeneration < generation,
      unknown_execution: (moment) => statusOfTurn(moment, generation) === 'unknown',
    };
    const wasRight = right[reason];
    const holds = wasRight !== undefined && this.#wasOnce(asked, wasRight);
    this.#books.verdict.hold(holds, 'P5', () => `a steer of generation ${generation} was refused as ${reason}`);
  }

  receiptGiven(process: ProcessView, asked: Asked & { readonly inputId: string }, heard: Heard<ReceiptView>): void {
    if (heard.kind === 'done') judgeReceipt(this.#books, process, asked, heard.reply);
    if (heard.kind !== 'refused') return;
    this.#judgeNotFound(process, asked, heard.refusal.reason);
  }

  cancelled(
    process: ProcessView,
    asked: Asked & { readonly inputId: string; readonly revision: number | null },
    heard: Heard<ReceiptView>,
  ): void {
    const { verdict } = this.#books;
    if (heard.kind === 'done') {
      const row = judgeReceipt(this.#books, process, asked, heard.reply);
      verdict.hold(row?.outcome === 'cancelled', 'P5', () => `a cancel of ${nameOf(row)} was acknowledged`);
    }
    if (heard.kind !== 'refused') return;
    const row = this.#rowOf(asked);
    const { reason } = heard.refusal;
    if (reason === 'not_queued') {
      const wasOut = this.#wasOnce(
        asked,
        ({ admissions }) => admissions.get(row?.admissionId ?? '')?.status !== 'queued',
      );
      verdict.hold(wasOut || !isOwner(this.#books, process), 'P5', () => `${nameOf(row)} was called not_queued`);
    } else if (reason === 'revision_conflict') {
      const hadOther = this.#wasOnce(
        asked,
        ({ admissions }) => admissions.get(row?.admissionId ?? '')?.revision !== asked.revision,
      );
      verdict.hold(hadOther, 'P5', () => `${nameOf(row)} has the revision that was called stale`);
    } else this.#judgeNotFound(process, asked, reason);
  }

  interrupted(
    process: ProcessView,
    asked: Asked & { readonly executionGeneration: number },
    heard: Heard<{ readonly executionGeneration: number; readonly admissionId: string | null }>,
  ): void {
    const { verdict, store, stops } = this.#books;
    const { sessionId, executionGeneration } = asked;
    const row = [...store.admissions(sessionId).values()].find(
      (other) => other.executionGeneration === executionGeneration && other.status !== 'queued',
    );
    if (heard.kind === 'done' && heard.reply.admissionId === null) {
      const isEnd = ({ type, executionGeneration: of }: EventRow): boolean =>
        type === 'compression.failed' && of === executionGeneration;
      const hasEnded = logOf(this.#books, sessionId).some(isEnd);
      verdict.hold(hasEnded, 'P5', () => `the stop of the compression ${executionGeneration} is not stored`);
      stops.add(turnKey(sessionId, executionGeneration));
    } else if (heard.kind === 'done') {
      const hit = row?.admissionId === heard.reply.admissionId && row.stopRequested !== null;
      verdict.hold(
        hit,
        'P5',
        () => `the stop of generation ${executionGeneration} was acknowledged for ${nameOf(row)}`,
      );
      stops.add(turnKey(sessionId, executionGeneration));
    } else if (heard.kind === 'refused' && isOwner(this.#books, process)) {
      const right: Readonly<Record<string, (moment: Moment) => boolean>> = {
        turn_over: (moment) =>
          !['started', 'unknown'].includes(statusOfTurn(moment, executionGeneration)) &&
          !(moment.compressing?.byHand === true && moment.compressing.executionGeneration === executionGeneration),
        stale_generation: (moment) => moment.executionGeneration < executionGeneration,
        unknown_execution: (moment) => statusOfTurn(moment, executionGeneration) === 'unknown',
      };
      const { reason } = heard.refusal;
      const wasRight = right[reason];
      verdict.hold(
        wasRight !== undefined && this.#wasOnce(asked, wasRight),
        'P5',
        () => `an interrupt of ${nameOf(row)} was refused as ${reason}`,
      );
    }
  }

  resolved(
    process: ProcessView,
    asked: Asked & { readonly admissionId: string; readonly executionGeneration: number; readonly action: string },
    heard: Heard<{ readonly receipt: ReceiptView; readonly retry: ReceiptView | null }>,
  ): void {
    const { verdict, store } = this.#books;
    const row = store.admissions(asked.sessionId).get(asked.admissionId);
    if (heard.kind === 'done') {
      judgeReceipt(this.#books, process, asked, heard.reply.receipt);
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
      verdict.hold(
        retryId === (row?.retriedBy ?? null),
        'P2',
        () => `the retry ${row?.retriedBy} was called ${retryId}`,
      );
    } else if (heard.kind === 'refused' && isOwner(this.#books, process)) {
      const lifeAt = ({ admissions }: Moment) => admissions.get(asked.admissionId);
      const right: Readonly<Record<string, (moment: Moment) => boolean>> = {
        not_found: (moment) => lifeAt(moment) === undefined,
        not_unknown: (moment) => lifeAt(moment)?.status !== 'unknown',
        already_resolved: () => row?.resolution?.action !== asked.action,
        stale_generation: (moment) => lifeAt(moment)?.executionGeneration !== asked.executionGeneration,
      };
      const { reason } = heard.refusal;
      const wasRight = right[reason];
      verdict.hold(
        wasRight !== undefined && this.#wasOnce(asked, wasRight),
        'P4',
        () => `a resolution of ${nameOf(row)} was refused as ${reason}`,
      );
    }
  }

  responded(process: ProcessView, asked: Responded, heard: Heard<ResponseView>): void {
    judgeResponse(this.#books, process, asked, heard);
    if (heard.kind !== 'done') return;
    const { approvalId } = asked;
    const isFirst = heard.reply.duplicate || !this.#answered.has(approvalId);
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

  /** A snapshot is one committed instant, and not older than what its process has told before. */
  snapshot(process: ProcessView, asked: Asked & { readonly limit: number }, snapshot: SnapshotView | null): void {
    const { verdict, versions, turnRequests, moments } = this.#books;
    if (snapshot === null) {
      const isGone = !isOwner(this.#books, process) || this.#wasOnce(asked, ({ deleted }) => deleted);
      verdict.hold(isGone, 'P8', () => `no snapshot for ${asked.address}`);
      return;
    }
    if (!isOwner(this.#books, process)) return;
    const { state, messages, pending, partial } = snapshot;
    const { toldSeq } = asked;
    verdict.hold(
      state.seq >= toldSeq,
      'P12',
      () => `a snapshot of ${state.seq} was asked for after news of ${toldSeq}`,
    );
    const version = versions.get(asked.sessionId)?.get(state.seq);
    if (!verdict.hold(version !== undefined, 'P1', () => `the snapshot of ${state.seq} was never committed`)) return;
    if (version === undefined) return;
    const expectedIds = version.activeIds.slice(-asked.limit).join();
    const ids = messages.map(({ id }) => id).join();
    const at = `the snapshot of ${asked.sessionId} at ${state.seq}`;
    verdict.hold(state.lineage.tipId === version.row.tipId, 'P7', () => `${at} names another tip`);
    verdict.hold(ids === expectedIds, 'P12', () => `${at} has the messages ${ids} instead of ${expectedIds}`);
    const more = version.activeIds.length > messages.length;
    verdict.hold(snapshot.moreMessages === more, 'P12', () => `${at} is wrong about older messages`);
    const open = pending.map(({ admission }) => `${admission.admissionId} ${admission.status}`).sort();
    const expectedOpen = [...version.open.values()].map((row) => `${row.admissionId} ${row.status}`).sort();
    verdict.hold(
      open.join() === expectedOpen.join(),
      'P12',
      () => `${at} has ${open.join()} instead of ${expectedOpen.join()}`,
    );
    const waiting = snapshot.approvals.map(({ approvalId }) => approvalId).join();
    verdict.hold(waiting === version.approvalIds.join(), 'P12', () => `${at} shows ${waiting} as waiting`);
    for (const { admission, payload } of pending) {
      const text = moments.get(asked.sessionId)?.[state.seq - 1]?.admissions.get(admission.admissionId)?.text;
      verdict.hold(payload?.text === text, 'P12', () => `${at} has another prompt for ${admission.inputId}`);
    }
    if (partial === null) return;
    const running = [...version.open.values()].find((row) => row.executionGeneration === partial.executionGeneration);
    const said = (turnRequests.get(running?.admissionId ?? '') ?? []).map((exchange) => exchange.said.join(''));
    const isTrue = said.some((text) => text.startsWith(partial.text)) && partial.offset === partial.text.length;
    verdict.hold(isTrue, 'P5', () => `${at} has a partial answer that nobody gave`);
    // By its step: a model may say the same twice.
    const stored = logOf(this.#books, asked.sessionId).some(
      ({ seq, step, message, executionGeneration }) =>
        seq <= state.seq &&
        message?.kind === 'answer' &&
        executionGeneration === partial.executionGeneration &&
        step === partial.step,
    );
    verdict.hold(!stored, 'P12', () => `${at} has its newest answer twice, stored and partial`);
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

  /** What an id stands for, whatever was edited since. */
  #submittedText({ sessionId }: Asked, admissionId: string): string | undefined {
    return newestMoment(this.#books, sessionId).admissions.get(admissionId)?.submittedText;
  }

  #rowOf(asked: Asked & { readonly inputId: string }): AdmissionRow | undefined {
    return [...this.#books.store.admissions(asked.sessionId).values()].find(
      (row) => row.inputId === asked.inputId && row.principalId === asked.principalId,
    );
  }

  #judgeNotFound(process: ProcessView, asked: Asked & { readonly inputId: string }, reason: string): void {
    const { verdict, store } = this.#books;
    const row = this.#rowOf(asked);
    verdict.hold(reason === 'not_found', 'P2', () => `${asked.inputId} was refused as ${reason}`);
    const missing = this.#wasMissing(asked, row) || store.session(asked.sessionId) === null;
    verdict.hold(missing || !isOwner(this.#books, process), 'P2', () => `${nameOf(row)} was not found`);
  }

  /** Whether the admission did not exist yet at some moment since the request arrived. */
  #wasMissing(asked: Asked, row: AdmissionRow | undefined): boolean {
    return row === undefined || this.#wasOnce(asked, ({ admissions }) => !admissions.has(row.admissionId));
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

/** A prompt; with a generation, one for a turn that runs. */
type Submitted = Asked & {
  readonly inputId: string;
  readonly text: string;
  readonly executionGeneration?: number;
  readonly ifOver?: string;
};

function queuedAt({ admissions }: Moment): number {
  return [...admissions.values()].filter(({ status }) => status === 'queued').length;
}

function isStopped({ admissions }: Moment, executionGeneration: number): boolean {
  return [...admissions.values()].some((life) => life.executionGeneration === executionGeneration && life.stopped);
}

function statusOfTurn({ admissions }: Moment, executionGeneration: number): string {
  const turn = [...admissions.values()].find((life) => life.executionGeneration === executionGeneration);
  return turn?.status ?? 'nothing';
}
