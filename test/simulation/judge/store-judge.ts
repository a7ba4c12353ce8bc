import { judgeAdmissions, nameOf } from './admissions.ts';
import { activeMessages, logOf, newestMoment, outages, turnKey } from './books.ts';
import type { Books, SessionVersion } from './books.ts';
import { beforeEverything, momentAfter } from './moments.ts';
import type { Moment } from './moments.ts';
import type { AdmissionRow, EventRow, MessageRow, SessionRow } from './rows.ts';
import { judgeApprovals } from './approval-judge.ts';
import { judgeQueueEvent, judgeQueueOrder, judgeTexts } from './queue-judge.ts';
import { judgeDeletedRows, judgeSessionEvent, judgeSessionRow } from './session-judge.ts';
import { judgeOpenCalls } from './tool-judge.ts';
import { judgeTranscripts } from './transcripts.ts';

interface Seen {
  readonly row: SessionRow | null;
  readonly admissions: ReadonlyMap<string, AdmissionRow>;
  readonly messages: ReadonlyMap<string, ReadonlyMap<number, MessageRow>>;
  readonly eventCount: number;
  readonly endedAdmissions: Set<string>;
}

/** Looks at the committed rows after every single append. */
export class StoreJudge {
  readonly #books: Books;
  readonly #seen = new Map<string, Seen>();
  #epoch = 0;

  constructor(books: Books) {
    this.#books = books;
  }

  ownerChanged(): void {
    const epoch = this.#books.store.epoch();
    this.#books.verdict.hold(epoch === this.#epoch + 1, 'P11', () => `the epoch went from ${this.#epoch} to ${epoch}`);
    this.#epoch = epoch;
  }

  /** `events` is what was written, as it was written: the store keeps less of it. */
  sessionChanged(sessionId: string, events: readonly EventRow[]): void {
    const { store, versions, verdict } = this.#books;
    const after = store.session(sessionId);
    if (!verdict.hold(after !== null, 'P1', () => `session ${sessionId} has vanished`) || after === null) return;
    const seen = this.#seen.get(sessionId) ?? nothingSeen;
    const admissions = store.admissions(sessionId);
    const { logs } = this.#books;
    logs.set(sessionId, [...(logs.get(sessionId) ?? []), ...events]);
    const change = {
      sessionId,
      before: seen.row,
      after,
      admissionsBefore: seen.admissions,
      admissionsAfter: admissions,
      messagesBefore: seen.messages,
      events,
    };
    const endedAdmissions = seen === nothingSeen ? new Set<string>() : seen.endedAdmissions;
    this.#judgeLog(sessionId, seen, events, endedAdmissions);
    this.#judgeSession(sessionId, seen.row, after);
    judgeAdmissions(this.#books, change);
    if (after.deleted) judgeDeletedRows(this.#books, sessionId);
    else judgeTranscripts(this.#books, change);
    judgeOpenCalls(this.#books, sessionId, events, admissions);
    const approvals = judgeApprovals(this.#books, sessionId, events);
    this.#judgeMoments(sessionId, events, admissions);
    const moment = newestMoment(this.#books, sessionId);
    judgeSessionRow(this.#books, sessionId, moment, after);
    judgeTexts(this.#books, moment);
    judgeQueueOrder(this.#books, moment);
    this.#remember(sessionId, after, admissions, endedAdmissions);
    const history = versions.get(sessionId) ?? new Map<number, SessionVersion>();
    versions.set(sessionId, history);
    history.set(after.seq, {
      row: after,
      open: new Map([...admissions].filter(([, row]) => row.status !== 'terminal')),
      activeIds: activeMessages(store, after.tipId).map(({ id }) => id),
      approvalIds: [...approvals.keys()],
    });
  }

  /** What nobody has written to is as it was, whatever became of other sessions. */
  atTheEnd(): void {
    const { store, verdict } = this.#books;
    for (const [sessionId, { row, messages }] of this.#seen) {
      if (row?.deleted === true) continue;
      const isLeft = [...messages].every(([id, rows]) =>
        [...rows].every(([messageId, { message }]) => store.messages(id).get(messageId)?.message === message),
      );
      verdict.hold(isLeft, 'fork', () => `messages of ${sessionId} were changed from outside`);
    }
  }

  /** The log is gapless, is written by the owner only, and ends each admission once. */
  #judgeLog(sessionId: string, seen: Seen, events: readonly EventRow[], ended: Set<string>): void {
    const { verdict, store } = this.#books;
    for (const [index, event] of events.entries()) {
      const seq = seen.eventCount + index + 1;
      verdict.hold(event.seq === seq, 'P12', () => `event ${event.seq} of ${sessionId} stands at place ${seq}`);
      verdict.hold(
        event.epoch === store.epoch(),
        'P11',
        () => `${event.type} of epoch ${event.epoch} was written in epoch ${store.epoch()}`,
      );
      if (!terminalEvents.has(event.type)) continue;
      const id = event.admissionId ?? '';
      verdict.hold(!ended.has(id), 'P5', () => `${id} ended twice`);
      ended.add(id);
    }
  }

  /** The rows are what the log says. */
  #judgeMoments(sessionId: string, events: readonly EventRow[], rows: ReadonlyMap<string, AdmissionRow>): void {
    const { moments, verdict } = this.#books;
    const past = moments.get(sessionId) ?? [];
    moments.set(sessionId, past);
    let moment = past.at(-1) ?? beforeEverything;
    for (const [index, event] of events.entries()) {
      if (event.type === 'turn.started') this.#judgeTurnOrder(sessionId, moment, event);
      if (event.type === 'window.learnt') this.#learn(event);
      judgeQueueEvent(this.#books, moment, event);
      judgeSessionEvent(this.#books, moment, event);
      if (event.type === 'compression.started' && event.trigger === 'manual') this.#judgeByHand(moment, event);
      if (event.type === 'turn.settled') this.#judgeOutage(moment, event, events[index + 1]);
      moment = momentAfter(moment, event);
      this.#judgeSteers(moment, event);
      past.push(moment);
    }
    for (const [admissionId, row] of rows) {
      const life = moment.admissions.get(admissionId);
      const same =
        life?.status === row.status &&
        life.outcome === row.outcome &&
        life.executionGeneration === row.executionGeneration &&
        life.revision === row.revision &&
        life.position === row.position;
      verdict.hold(same, 'P5', () => `${nameOf(row)} is not what its events say: ${JSON.stringify(life)}`);
    }
  }

  /** An outage that would burn the prompts behind it holds them, where that is asked for; nothing else does. */
  #judgeOutage({ admissions, held }: Moment, settled: EventRow, next: EventRow | undefined): void {
    const { verdict, limits } = this.#books;
    const waits = [...admissions.values()].some(({ status, isSteer }) => status === 'queued' && !isSteer);
    const isOutage = outages.has(settled.failure?.reason ?? '');
    const mustHold = limits.onOutage === 'hold' && isOutage && waits && !held;
    const holds = next?.type === 'session.held' && next.hold?.reason.startsWith('outage') === true;
    verdict.hold(
      holds === mustHold,
      'P6',
      () => `${settled.admissionId} failed: ${settled.failure?.reason}, and the queue ${holds ? 'is' : 'is not'} held`,
    );
  }

  /** A steer waits only while a turn runs: what ends the run gives it its fate first. */
  #judgeSteers({ admissions }: Moment, { type }: EventRow): void {
    if (type !== 'turn.settled' && type !== 'turn.lost' && type !== 'admission.requeued') return;
    const runs = [...admissions.values()].some(({ status }) => status === 'started');
    const left = [...admissions].find(([, { status, isSteer }]) => status === 'queued' && isSteer)?.[0];
    this.#books.verdict.hold(runs || left === undefined, 'P5', () => `${left} waits for a turn that runs no more`);
  }

  /** The next turn is the one that waits at the lowest position, and nothing blocks it at that moment. */
  #judgeTurnOrder(sessionId: string, { admissions, held, compressing, model }: Moment, event: EventRow): void {
    const { verdict, turnModels } = this.#books;
    const { admissionId, executionGeneration } = event;
    turnModels.set(turnKey(sessionId, executionGeneration ?? 0), model);
    verdict.hold(compressing === null, 'P3', () => `${admissionId} started although its session is compressed by hand`);
    verdict.hold(!held, 'P3', () => `${admissionId} started although its session is held`);
    const position = admissions.get(admissionId ?? '')?.position ?? 0;
    for (const [otherId, other] of admissions) {
      if (otherId === admissionId) continue;
      const occupies = other.status === 'started' || other.status === 'unknown';
      verdict.hold(!occupies, 'P3', () => `${admissionId} started behind ${otherId}, which is ${other.status}`);
      const steers = other.status === 'queued' && other.isSteer;
      verdict.hold(!steers, 'P5', () => `${admissionId} started while ${otherId} waits for a turn that is over`);
      const overtaken = other.status === 'queued' && other.position < position;
      verdict.hold(!overtaken, 'P3', () => `${admissionId} overtook ${otherId}`);
    }
  }

  #learn({ model, windowTokens = 0 }: EventRow): void {
    if (typeof model === 'object') this.#books.statedWindows.set(model.model, windowTokens);
  }

  /** A compression by hand has a generation of its own, and nothing runs beside it. */
  #judgeByHand({ admissions, executionGeneration, compressing }: Moment, event: EventRow): void {
    const { verdict } = this.#books;
    verdict.hold(
      event.executionGeneration === executionGeneration + 1 && event.admissionId === null,
      'P4',
      () => `a compression by hand has the generation ${event.executionGeneration} after ${executionGeneration}`,
    );
    const busy = [...admissions.values()].some(({ status }) => status === 'started' || status === 'unknown');
    verdict.hold(
      !busy && compressing === null,
      'P3',
      () => `${event.compressionId} began although the session is busy`,
    );
  }

  #judgeSession(sessionId: string, before: SessionRow | null, after: SessionRow): void {
    const { verdict, store } = this.#books;
    const kept = store.events(sessionId);
    const log = logOf(this.#books, sessionId);
    const isWhole = after.deleted || kept.length === log.length;
    const newest = kept.at(-1);
    verdict.hold(
      isWhole && after.seq === log.length && newest?.seq === after.seq && newest.type === log.at(-1)?.type,
      'P12',
      () => `${sessionId} lost count of its events`,
    );
    if (before === null) return;
    verdict.hold(
      before.executionGeneration <= after.executionGeneration && before.revision <= after.revision,
      'P4',
      () => `generation or revision of ${sessionId} went back`,
    );
  }

  #remember(
    sessionId: string,
    row: SessionRow,
    admissions: ReadonlyMap<string, AdmissionRow>,
    endedAdmissions: Set<string>,
  ): void {
    const { store } = this.#books;
    const transcripts = store.transcripts(sessionId);
    const { messages } = this.#books;
    for (const { id } of transcripts) {
      for (const [messageId, { message }] of store.messages(id)) messages.set(messageId, message);
    }
    this.#seen.set(sessionId, {
      row,
      admissions: new Map(admissions),
      messages: new Map(transcripts.map(({ id }) => [id, new Map(store.messages(id))])),
      eventCount: row.seq,
      endedAdmissions,
    });
  }
}

const terminalEvents = new Set(['admission.cancelled', 'admission.merged', 'turn.settled', 'turn.resolved']);

const nothingSeen: Seen = {
  row: null,
  admissions: new Map(),
  messages: new Map(),
  eventCount: 0,
  endedAdmissions: new Set(),
};
