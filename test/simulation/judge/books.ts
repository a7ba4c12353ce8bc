import type { Asked } from './calls.ts';
import { beforeEverything } from './moments.ts';
import type { Moment } from './moments.ts';
import type { AdmissionRow, EventRow, Exchange, JudgedLimits, MessageRow, SessionRow, StoreView } from './rows.ts';
import type { Verdict } from './verdict.ts';

/** A session as it was when its newest event had this sequence number. */
export interface SessionVersion {
  readonly row: SessionRow;
  /** Every admission that is not terminal, by id. */
  readonly open: ReadonlyMap<string, AdmissionRow>;
  /** The ids of the tip's active messages, in order. */
  readonly activeIds: readonly number[];
  /** The ids of the open requests for approval, oldest first. */
  readonly approvalIds: readonly string[];
}

/** What the parts of the judge know together. */
export interface Books {
  readonly verdict: Verdict;
  readonly store: StoreView;
  readonly limits: JudgedLimits;
  /** By session id, then by sequence number of an append's last event. */
  readonly versions: Map<string, Map<number, SessionVersion>>;
  /** By session id: every event that was ever written, also of a session that was deleted since. */
  readonly logs: Map<string, EventRow[]>;
  /** Every message that was ever stored, by its id. */
  readonly messages: Map<number, MessageRow['message']>;
  /** By `<session>/<generation>`: the model of the session when the turn started. */
  readonly turnModels: Map<string, string>;
  /** By model: the window that its server stated last. */
  readonly statedWindows: Map<string, number>;
  /** By session id: the moment after each event, in order of the log. */
  readonly moments: Map<string, Moment[]>;
  /** The turn requests of an admission, oldest first. */
  readonly turnRequests: Map<string, Exchange[]>;
  /** The summary requests of a session, oldest first; under the empty name those to a model that is no session's own. */
  readonly summaryRequests: Map<string, Exchange[]>;
  /** By session id: the largest context that a server has reported since the newest compression. */
  readonly reported: Map<string, number>;
  /** Summaries that a model server has finished: text. */
  readonly summaries: Set<string>;
  /** By session id: the calls whose intent is in the log and whose end is not. */
  readonly openCalls: Map<string, Set<string>>;
  /** `<session>/<generation>` of the turns whose stop was acknowledged. */
  readonly stops: Set<string>;
  /** By session id: the requests for approval that the log leaves open, with their calls. */
  readonly openApprovals: Map<string, ReadonlyMap<string, string>>;
}

export function emptyBooks(verdict: Verdict, store: StoreView, limits: JudgedLimits): Books {
  return {
    verdict,
    store,
    limits,
    versions: new Map(),
    logs: new Map(),
    messages: new Map(),
    turnModels: new Map(),
    statedWindows: new Map(),
    moments: new Map(),
    turnRequests: new Map(),
    summaryRequests: new Map(),
    reported: new Map(),
    summaries: new Set(),
    openCalls: new Map(),
    stops: new Set(),
    openApprovals: new Map(),
  };
}

/** Reasons for which a turn fails that are not its prompt's own. */
export const outages: ReadonlySet<string> = new Set([
  'auth',
  'rate_limited',
  'unavailable',
  'stalled',
  'compression_failed',
]);

export function turnKey(sessionId: string, executionGeneration: number): string {
  return `${sessionId}/${executionGeneration}`;
}

/** The whole log of a session; the store forgets it with a deletion, and what was told before stays true. */
export function logOf({ logs }: Books, sessionId: string): readonly EventRow[] {
  return logs.get(sessionId) ?? [];
}

/** What a session is now, by the judge's own reading. */
export function newestMoment({ moments }: Books, sessionId: string): Moment {
  return moments.get(sessionId)?.at(-1) ?? beforeEverything;
}

/** Whether a process with this epoch is the one that owns the store. */
export function isOwner(books: Books, process: { readonly epoch: number }): boolean {
  return process.epoch === books.store.epoch();
}

/** The moments on which a process may have decided: one that was superseded may be behind, and never ahead. */
export function asSeenBy<A extends { readonly sinceSeq: number }>(
  books: Books,
  process: { readonly epoch: number },
  asked: A,
): A {
  return isOwner(books, process) ? asked : { ...asked, sinceSeq: 0 };
}

/** Whether something was true at some moment since the request arrived: it is decided between its call and its answer. */
export function wasOnce(
  books: Books,
  { sessionId, sinceSeq }: { readonly sessionId: string; readonly sinceSeq: number },
  isTrue: (moment: Moment) => boolean,
): boolean {
  const moments = books.moments.get(sessionId) ?? [];
  return moments.slice(Math.max(0, sinceSeq - 1)).some(isTrue);
}

/** Whether a refusal was right at some moment since the request arrived. One for a reason without a condition never is. */
export function wasRightlyRefused(
  books: Books,
  asked: Asked,
  reason: string,
  conditions: Readonly<Record<string, (moment: Moment) => boolean>>,
): boolean {
  const isRight = conditions[reason];
  return isRight !== undefined && wasOnce(books, asked, isRight);
}

/** The admission that the request's input id stands for. */
export function admissionOf(
  { store }: Books,
  asked: Pick<Asked, 'sessionId' | 'principalId'> & { readonly inputId?: string },
): AdmissionRow | undefined {
  return [...store.admissions(asked.sessionId).values()].find(
    (row) => row.inputId === asked.inputId && row.principalId === asked.principalId,
  );
}

/** Whether the admission did not exist yet at some moment since the request arrived. */
export function wasMissing(books: Books, asked: Asked, row: AdmissionRow | undefined): boolean {
  return row === undefined || wasOnce(books, asked, ({ admissions }) => !admissions.has(row.admissionId));
}

export function statusOfTurn({ admissions }: Moment, executionGeneration: number): string {
  const turn = [...admissions.values()].find((life) => life.executionGeneration === executionGeneration);
  return turn?.status ?? 'nothing';
}

/** The tip's active messages as rows, in order. */
export function activeMessages(store: StoreView, transcriptId: string) {
  return [...store.messages(transcriptId).values()]
    .filter((row) => row.active)
    .map((row) => row.message)
    .sort((a, b) => a.id - b.id);
}

export function isRetry(admission: { readonly inputId: string }): boolean {
  return admission.inputId.includes('~');
}
