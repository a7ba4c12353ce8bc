import type { Admission, AdmissionStatus, PromptPayload } from '../../../core/domain/admission/admission.ts';
import type { SessionEvent } from '../../../core/domain/session/events.ts';
import { holdsAll, wordsOf } from '../../../core/domain/search/terms.ts';
import type { SessionState } from '../../../core/domain/session/state.ts';
import type {
  AdmissionPage,
  AdmissionWithContent,
  EventPage,
  HeldQueue,
  HistoryPage,
  Lineage,
  OpenBreaker,
  SearchPage,
  SessionPage,
  SessionQueries,
  SessionSummary,
  SnapshotPage,
  StoredApproval,
  StoreCounts,
} from '../../../core/ports/session-queries.ts';
import { maxListedCharacters } from '../../../core/ports/session-queries.ts';
import {
  charactersOf,
  charactersOfEvent,
  charactersOfPayload,
  pageOf,
} from '../../../core/domain/transcript/content-page.ts';
import { beginningOf } from '../../../core/domain/transcript/cut-text.ts';
import type { Message } from '../../../core/domain/transcript/message.ts';
import { entryFrom, lineageFrom, sizeOf } from './memory-history.ts';
import type { MemoryStore } from './memory-store.ts';
import type { ApprovalRow } from './memory-tables.ts';

/** Reads the store that a `MemoryLedger` writes. */
export class MemoryQueries implements SessionQueries {
  readonly #store: MemoryStore;

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  async listSessions(page: {
    principalId: string;
    archived: boolean | null;
    limit: number;
    before: string | null;
  }): Promise<SessionPage> {
    const newestFirst = this.#store.states().toReversed();
    // The session of the cursor may have been deleted or archived since.
    const from = page.before === null ? 0 : afterIndexOf(newestFirst, page.before);
    const rest = newestFirst
      .slice(from)
      .filter((state) => state.profile.principalId === page.principalId && state.deletedAt === null)
      .filter((state) => page.archived === null || state.archived === page.archived);
    const sessions = rest.slice(0, page.limit).map((state) => this.#summary(state));
    return { sessions, next: rest.length > page.limit ? (sessions.at(-1)?.sessionId ?? null) : null };
  }

  async findSession(sessionId: string): Promise<SessionSummary | null> {
    const state = this.#store.load(sessionId);
    return state === null || state.deletedAt !== null ? null : this.#summary(state);
  }

  async listAdmissions(page: {
    sessionId: string;
    include: 'open' | 'all';
    limit: number;
    after: number | null;
  }): Promise<AdmissionPage> {
    const { include, limit, after } = page;
    const rest = this.#store
      .admissions(page.sessionId)
      .filter((admission) => include === 'all' || admission.status !== 'terminal')
      .filter((admission) => after === null || admission.position > after)
      .sort((a, b) => a.position - b.position || a.seq - b.seq);
    const fitting = pageOf(
      rest.map((admission) => this.#withContent(admission)),
      limit,
      ({ content }) => charactersOfPayload(content),
    );
    const lastPosition = fitting.next === null ? Infinity : (fitting.rows.at(-1)?.admission.position ?? Infinity);
    const inPage = rest.filter((admission) => admission.position <= lastPosition);
    const admissions = inPage.map((admission) => this.#withContent(admission));
    return { admissions, next: inPage.length < rest.length ? lastPosition : null };
  }

  async systemPrompt(sessionId: string): Promise<string | null> {
    return this.#store.load(sessionId)?.profile.systemPrompt ?? null;
  }

  async snapshot(page: { sessionId: string; before: number | null; limit: number }): Promise<SnapshotPage | null> {
    const { sessionId, before, limit } = page;
    const state = this.#store.load(sessionId);
    if (state === null || state.deletedAt !== null) return null;
    const older = this.#store.activeMessages(state.lineage.tipId).filter(({ id }) => id < (before ?? Infinity));
    const { rows, next } = pageOf(older.toReversed(), limit, charactersOf);
    const contents = state.open.map(({ admissionId }) => ({ admissionId, content: this.#listed(admissionId) }));
    return {
      lastSeq: state.seq,
      messages: rows.toReversed(),
      moreMessages: next !== null,
      pending: pageOf(contents, Infinity, ({ content }) => charactersOfPayload(content)).rows,
      approvals: await this.openApprovals({ of: { sessionId }, limit: Infinity }),
    };
  }

  async events(page: { sessionId: string; afterSeq: number; limit: number }): Promise<EventPage> {
    const stored = this.#store.events(page.sessionId, page.afterSeq, page.limit);
    const lastSeq = this.#store.load(page.sessionId)?.seq ?? 0;
    const { rows: events } = pageOf(
      stored.map((event) => this.#withMessage(event)),
      page.limit,
      charactersOfEvent,
    );
    return { events, lastSeq };
  }

  async history(page: {
    sessionId: string;
    before: number | null;
    after: number | null;
    limit: number;
  }): Promise<HistoryPage> {
    const { sessionId, before, after, limit } = page;
    const isForward = after !== null && before === null;
    const range = this.#store
      .events(sessionId)
      .filter(({ seq }) => seq > (after ?? 0) && seq < (before ?? Infinity))
      .flatMap((event) => entryFrom(this.#store, event) ?? []);
    const inDirection = isForward ? range : range.toReversed();
    const { rows: entries, next: rest } = pageOf(inDirection, limit, sizeOf);
    return { entries: isForward ? entries : entries.toReversed(), more: rest !== null };
  }

  async lineage(sessionId: string): Promise<Lineage> {
    return lineageFrom(this.#store, sessionId);
  }

  async transcriptEvents(page: {
    sessionId: string;
    afterSeq: number;
    limit: number;
  }): Promise<readonly SessionEvent[]> {
    const changing = this.#store
      .events(page.sessionId, page.afterSeq)
      .filter(({ type }) => changesTranscript.has(type));
    return changing.slice(0, page.limit);
  }

  async messages({ sessionId, ids }: { sessionId: string; ids: readonly number[] }): Promise<readonly Message[]> {
    const own = ids.filter((id) => this.#store.messageRow(id)?.sessionId === sessionId);
    const inOrder = own.toSorted((a, b) => a - b).flatMap((id) => this.#store.message(id) ?? []);
    return pageOf(inOrder, Infinity, charactersOf).rows;
  }

  async search(query: Parameters<SessionQueries['search']>[0]): Promise<SearchPage> {
    const { principalId, sessionId, terms, before, limit } = query;
    if (terms.phrases.length === 0) return { hits: [], next: null, behind: false };
    const states = this.#store
      .states()
      .filter(
        (state) => state.profile.principalId === principalId && (sessionId ?? state.sessionId) === state.sessionId,
      );
    const hits = states
      .flatMap((state) => this.#store.messageRows(state.sessionId).map((row) => ({ state, ...row })))
      .filter(({ message }) => message.id === message.originId && message.kind !== 'summary')
      .filter(({ message }) => message.id < (before ?? Infinity) && holdsAll(wordsOf(message.text), terms))
      .sort((a, b) => b.message.id - a.message.id)
      .map(({ state, transcriptId, message }) => ({
        sessionId: state.sessionId,
        title: state.profile.title,
        transcriptId,
        message,
      }));
    const page = pageOf(hits, limit, ({ message }) => charactersOf(message));
    return { hits: page.rows, next: page.next === null ? null : (page.rows.at(-1)?.message.id ?? null), behind: false };
  }

  async counts(): Promise<StoreCounts> {
    const states = this.#store.states();
    const admissions: Record<AdmissionStatus, number> = { queued: 0, started: 0, unknown: 0, terminal: 0 };
    for (const { status } of states.flatMap((state) => this.#store.admissions(state.sessionId)))
      admissions[status] += 1;
    return { sessions: states.length, admissions };
  }

  async openBreakers({ now, limit }: { now: string; limit: number }): Promise<readonly OpenBreaker[]> {
    const breakers = this.#store.states().map(({ sessionId, lineage }) => ({ ...lineage.breaker, sessionId }));
    const open = breakers.filter(({ openUntil }) => (openUntil ?? '') > now);
    return open
      .sort((a, b) => (a.openUntil ?? '').localeCompare(b.openUntil ?? ''))
      .reverse()
      .slice(0, limit);
  }

  async heldQueues(limit: number): Promise<readonly HeldQueue[]> {
    const held = this.#store.unfinished().flatMap(({ sessionId, hold, open }) => {
      const queued = open.filter(({ status }) => status === 'queued').length;
      return hold === null || queued === 0 ? [] : [{ sessionId, hold, queued }];
    });
    return held.sort((a, b) => a.hold.at.localeCompare(b.hold.at)).slice(0, limit);
  }

  async unknownAdmissions(limit: number): Promise<readonly Admission[]> {
    const unknown = this.#store
      .unfinished()
      .flatMap((state) => state.open)
      .filter((admission) => admission.status === 'unknown');
    const oldestFirst = unknown.sort((a, b) => a.seq - b.seq);
    return oldestFirst.slice(0, limit);
  }

  async findApproval(sessionId: string, approvalId: string): Promise<StoredApproval | null> {
    const row = this.#store.approvals().find((each) => each.approvalId === approvalId && each.sessionId === sessionId);
    return row === undefined ? null : this.#withArguments(row);
  }

  async openApprovals(page: {
    of: { sessionId: string } | { principalId: string };
    limit: number;
  }): Promise<readonly StoredApproval[]> {
    const { of } = page;
    const isMeant = ({ sessionId }: ApprovalRow): boolean =>
      'sessionId' in of
        ? sessionId === of.sessionId
        : this.#store.load(sessionId)?.profile.principalId === of.principalId;
    const open = this.#store.approvals().filter((row) => row.resolution === null && isMeant(row));
    const listed = open.slice(0, page.limit).map((row) => this.#withArguments(row));
    const { rows } = pageOf(listed, Infinity, (approval) => approval.arguments?.length ?? 0);
    const leftOut = listed.slice(rows.length);
    return [...rows, ...leftOut.map((approval) => ({ ...approval, arguments: null, argumentsLeftOut: true }))];
  }

  #withArguments(row: ApprovalRow): StoredApproval {
    const call = this.#store.message(row.messageId)?.toolCalls.find(({ id }) => id === row.callId);
    return { ...row, arguments: call?.arguments ?? null, argumentsLeftOut: false };
  }

  #summary(state: SessionState): SessionSummary {
    const { sessionId, profile, revision, archived, pinned, executionGeneration, lineage } = state;
    const { systemPrompt, ...shown } = profile;
    const withStatus = (status: AdmissionStatus): number => state.open.filter((open) => open.status === status).length;
    return {
      sessionId,
      tipId: lineage.tipId,
      profile: shown,
      revision,
      archived,
      pinned,
      executionGeneration,
      transcripts: lineage.length,
      compressions: lineage.compressions,
      messageCount: state.messages.length,
      queued: withStatus('queued'),
      started: withStatus('started'),
      unknown: withStatus('unknown'),
      held: state.hold !== null,
      lastSeq: state.seq,
      updatedAt: this.#store.events(sessionId, state.seq - 1)[0]?.at ?? profile.startedAt,
    };
  }

  #withContent(admission: Admission): AdmissionWithContent {
    return { admission, content: this.#listed(admission.admissionId) };
  }

  #listed(admissionId: string): PromptPayload | null {
    const { payload = null } = this.#store.payload(admissionId) ?? {};
    if (payload?.parts !== null) return payload;
    return { text: beginningOf(payload.text, maxListedCharacters), parts: null };
  }

  #withMessage(event: SessionEvent): SessionEvent {
    if (event.type !== 'message.appended') return event;
    return { ...event, message: this.#store.message(event.message.id) ?? event.message };
  }
}

const changesTranscript: ReadonlySet<SessionEvent['type']> = new Set<SessionEvent['type']>([
  'message.appended',
  'compression.completed',
  'turn.settled',
]);

/** Where the page after this session starts; past the end when there is no such session. */
function afterIndexOf(states: readonly SessionState[], sessionId: string): number {
  const index = states.findIndex((state) => state.sessionId === sessionId);
  return index < 0 ? states.length : index + 1;
}
