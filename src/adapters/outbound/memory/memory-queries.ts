import type { Admission, AdmissionStatus } from '../../../core/domain/admission/admission.ts';
import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { SessionState } from '../../../core/domain/session/state.ts';
import type {
  AdmissionPage,
  AdmissionWithPayload,
  EventPage,
  MessagePage,
  SessionPage,
  SessionQueries,
  SessionSummary,
  StoreCounts,
} from '../../../core/ports/session-queries.ts';
import type { MemoryStore } from './memory-store.ts';

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
    const own = this.#store
      .states()
      .filter((state) => state.profile.principalId === page.principalId && state.deletedAt === null)
      .filter((state) => page.archived === null || state.archived === page.archived);
    const newestFirst = own.toReversed();
    const from = page.before === null ? 0 : afterIndexOf(newestFirst, page.before);
    const rest = newestFirst.slice(from);
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
    const lastPosition = rest[limit - 1]?.position ?? Infinity;
    const inPage = rest.filter((admission) => admission.position <= lastPosition);
    const admissions = inPage.map((admission) => this.#withPayload(admission));
    return { admissions, next: inPage.length < rest.length ? lastPosition : null };
  }

  async messagesBefore(page: { transcriptId: string; before: number | null; limit: number }): Promise<MessagePage> {
    const { before, limit } = page;
    const active = this.#store.activeMessages(page.transcriptId);
    const older = before === null ? active : active.filter((message) => message.id < before);
    const from = Math.max(0, older.length - limit);
    return { messages: older.slice(from), more: from > 0 };
  }

  async events(page: { sessionId: string; afterSeq: number; limit: number }): Promise<EventPage> {
    const stored = this.#store.events(page.sessionId, page.afterSeq, page.limit);
    const lastSeq = this.#store.load(page.sessionId)?.seq ?? 0;
    return { events: stored.map((event) => this.#withMessage(event)), lastSeq };
  }

  async counts(): Promise<StoreCounts> {
    const states = this.#store.states();
    const admissions: Record<AdmissionStatus, number> = { queued: 0, started: 0, unknown: 0, terminal: 0 };
    for (const { status } of states.flatMap((state) => this.#store.admissions(state.sessionId)))
      admissions[status] += 1;
    return { sessions: states.length, admissions };
  }

  async unknownAdmissions(limit: number): Promise<readonly AdmissionWithPayload[]> {
    const unknown = this.#store
      .unfinished()
      .flatMap((state) => state.open)
      .filter((admission) => admission.status === 'unknown');
    const oldestFirst = unknown.sort((a, b) => a.seq - b.seq);
    return oldestFirst.slice(0, limit).map((admission) => this.#withPayload(admission));
  }

  #summary(state: SessionState): SessionSummary {
    const { sessionId, profile, revision, archived, pinned, executionGeneration, lineage } = state;
    const withStatus = (status: AdmissionStatus): number => state.open.filter((open) => open.status === status).length;
    return {
      sessionId,
      tipId: lineage.tipId,
      profile,
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

  #withPayload(admission: Admission): AdmissionWithPayload {
    return { admission, payload: this.#store.payload(admission.admissionId)?.payload ?? null };
  }

  #withMessage(event: SessionEvent): SessionEvent {
    if (event.type !== 'message.appended') return event;
    return { ...event, message: this.#store.message(event.message.id) ?? event.message };
  }
}

/** Where the page after this session starts; past the end when there is no such session. */
function afterIndexOf(states: readonly SessionState[], sessionId: string): number {
  const index = states.findIndex((state) => state.sessionId === sessionId);
  return index < 0 ? states.length : index + 1;
}
