import type { Admission } from '../../../core/domain/admission/admission.ts';
import { invariant } from '../../../core/domain/invariant.ts';
import type { AdmissionKey } from '../../../core/domain/session/commands.ts';
import { evolve } from '../../../core/domain/session/evolve.ts';
import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { SessionState } from '../../../core/domain/session/state.ts';
import { charactersOf, pageOf } from '../../../core/domain/transcript/content-page.ts';
import type { Message } from '../../../core/domain/transcript/message.ts';
import type {
  AppendRequest,
  AppendResult,
  CompressionKey,
  CompressionRecord,
  CreatedSession,
  LearntWindow,
  OwnedSession,
  Ownership,
  StoredPayload,
} from '../../../core/ports/ledger.ts';
import { frozenCopy } from './frozen-copy.ts';
import { cloneTables, compositeKey, emptyTables } from './memory-tables.ts';
import type { ApprovalRow, MemoryTables, MessageRow, TranscriptRow } from './memory-tables.ts';
import { projectEvent } from './project-event.ts';
import { storedForm } from './stored-form.ts';
import { UndoLog } from './undo-log.ts';

/**
 * What a ledger keeps, without the waiting: plain data and synchronous functions. Several owners may share one store,
 * as several processes may open one file; a clone is the file as it is at one instant.
 *
 * M1: an append changes everything that it should or nothing: what it wrote is taken back when it throws.
 * M2: nothing with content is read from an event again: the state is the fold of events in their stored form.
 * M3: everything handed out is frozen, and nothing that was handed in is kept.
 */
export class MemoryStore {
  readonly #tables: MemoryTables;

  constructor(storeId: string, tables: MemoryTables = emptyTables(storeId)) {
    this.#tables = tables;
  }

  /** The store as it is now; what happens to one of the two is not seen in the other. */
  clone(): MemoryStore {
    return new MemoryStore(this.#tables.storeId, cloneTables(this.#tables));
  }

  takeOwnership(): Ownership {
    const { counters, storeId } = this.#tables;
    const epoch = this.epoch + 1;
    counters.set('epoch', epoch);
    return {
      epoch,
      storeId,
      nextMessageId: (counters.get('messageId') ?? 0) + 1,
      nextAdmissionSeq: (counters.get('admissionSeq') ?? 0) + 1,
    };
  }

  get epoch(): number {
    return this.#tables.counters.get('epoch') ?? 0;
  }

  append(request: AppendRequest): AppendResult {
    assertGapless(request);
    return this.#refusalOf(request) ?? this.#commit(request);
  }

  load(sessionId: string): SessionState | null {
    return this.#tables.states.get(sessionId) ?? null;
  }

  /** The states of all sessions, oldest session first. */
  states(): readonly SessionState[] {
    return [...this.#tables.states.values()];
  }

  /** At most `limit` events of a session after `afterSeq`, in their stored form. */
  events(sessionId: string, afterSeq = 0, limit = Infinity): readonly SessionEvent[] {
    const log = this.#tables.events.get(sessionId) ?? [];
    const from = Math.max(0, afterSeq + 1 - (log[0]?.seq ?? 1));
    return Object.freeze(log.slice(from, from + limit));
  }

  transcript(transcriptId: string): TranscriptRow | null {
    return this.#tables.transcripts.get(transcriptId) ?? null;
  }

  /** The active messages of a transcript, in order. */
  activeMessages(transcriptId: string): readonly Message[] {
    const rows = [...(this.#tables.messages.get(transcriptId)?.values() ?? [])];
    const active = rows.filter((row) => row.active).map((row) => row.message);
    return active.sort((a, b) => a.id - b.id);
  }

  /** The first page of the active messages after an id. */
  transcriptPage(transcriptId: string, afterId: number): readonly Message[] {
    const rest = this.activeMessages(transcriptId).filter(({ id }) => id > afterId);
    return pageOf(rest, Infinity, charactersOf).rows;
  }

  /** A message by its id, active or not. */
  message(id: number): Message | null {
    const transcriptId = this.#tables.transcriptByMessage.get(id) ?? '';
    return this.#tables.messages.get(transcriptId)?.get(id)?.message ?? null;
  }

  /** A message with what its row says of it. */
  messageRow(id: number): StoredMessage | null {
    const transcriptId = this.#tables.transcriptByMessage.get(id) ?? '';
    const row = this.#tables.messages.get(transcriptId)?.get(id);
    const sessionId = this.#tables.transcripts.get(transcriptId)?.sessionId;
    return row === undefined || sessionId === undefined ? null : { ...row, transcriptId, sessionId };
  }

  /** Every message of a session, in any transcript. */
  messageRows(sessionId: string): readonly StoredMessage[] {
    return this.transcriptsOf(sessionId).flatMap(({ id: transcriptId }) =>
      [...(this.#tables.messages.get(transcriptId)?.values() ?? [])].map((row) => ({
        ...row,
        transcriptId,
        sessionId,
      })),
    );
  }

  /** Root first. */
  transcriptsOf(sessionId: string): readonly TranscriptRow[] {
    return [...this.#tables.transcripts.values()].filter((row) => row.sessionId === sessionId);
  }

  ownedSession(transcriptId: string): OwnedSession | null {
    const state = this.#tables.states.get(this.transcript(transcriptId)?.sessionId ?? '');
    return state === undefined ? null : { sessionId: state.sessionId, principalId: state.profile.principalId };
  }

  /** Every admission that a session ever had, oldest first. */
  admissions(sessionId: string): readonly Admission[] {
    return [...(this.#tables.admissions.get(sessionId)?.values() ?? [])];
  }

  findAdmission(sessionId: string, key: AdmissionKey): Admission | null {
    const admissionId = 'admissionId' in key ? key.admissionId : this.#admissionIdOf(sessionId, key);
    return this.#tables.admissions.get(sessionId)?.get(admissionId ?? '') ?? null;
  }

  findCreated(key: { readonly principalId: string; readonly requestId: string }): CreatedSession | null {
    return this.#tables.created.get(compositeKey(key.principalId, key.requestId)) ?? null;
  }

  /** The requests for approval of all sessions, oldest first. */
  approvals(): readonly ApprovalRow[] {
    return [...this.#tables.approvals.values()];
  }

  payload(admissionId: string): StoredPayload | null {
    return this.#tables.payloads.get(admissionId) ?? null;
  }

  learntWindows(): readonly LearntWindow[] {
    return [...this.#tables.learntWindows.values()];
  }

  findCompression({ principalId, sessionId, requestId }: CompressionKey): CompressionRecord | null {
    const id = this.#tables.compressionByRequest.get(compositeKey(principalId, sessionId, requestId));
    return this.#tables.compressions.get(id ?? '') ?? null;
  }

  /** The states of the sessions with an admission that is not terminal or a compression that is open. */
  unfinished(): readonly SessionState[] {
    return [...this.#tables.unfinished].flatMap((sessionId) => this.#tables.states.get(sessionId) ?? []);
  }

  /** In the order that the port promises: epoch, sequence, then what must be unique. */
  #refusalOf({ sessionId, expectedSeq, epoch, events }: AppendRequest): AppendResult | null {
    invariant(epoch <= this.epoch, 'an owner has the epoch that the store gave it');
    if (epoch < this.epoch) return { kind: 'stale_epoch', epoch: this.epoch };

    const seq = this.load(sessionId)?.seq ?? 0;
    invariant(expectedSeq <= seq, 'nobody knows more events than the store');
    if (expectedSeq < seq) return { kind: 'stale', events: this.events(sessionId, expectedSeq) };

    const created = events.flatMap((event) =>
      event.type === 'session.created' ? (this.findCreated(event.profile) ?? []) : [],
    );
    if (created[0] !== undefined) return { kind: 'request_taken', created: created[0] };

    const admissions = events.flatMap((event) =>
      event.type === 'admission.queued' ? (this.findAdmission(sessionId, inputKeyOf(event.admission)) ?? []) : [],
    );
    if (admissions.length > 0) return { kind: 'duplicate', admissions: Object.freeze(admissions) };

    const isGone = (event: SessionEvent): boolean =>
      event.type === 'message.appended' && event.contentFrom !== undefined && this.message(event.contentFrom) === null;
    return events.some(isGone) ? { kind: 'content_gone' } : null;
  }

  #commit({ sessionId, events }: AppendRequest): AppendResult {
    const undo = new UndoLog();
    try {
      let log = this.#tables.events.get(sessionId) ?? [];
      undo.put(this.#tables.events, sessionId, log);
      for (const event of events) {
        const before = this.load(sessionId);
        const stored = storedForm(event);
        const after = frozenCopy(evolve(before, stored));
        projectEvent(this.#tables, undo, { event, before, after });
        undo.put(this.#tables.states, sessionId, after);
        if (event.type === 'session.deleted') undo.put(this.#tables.events, sessionId, (log = []));
        undo.push(log, stored);
      }
      return { kind: 'committed' };
    } catch (error) {
      undo.rollback();
      throw error;
    }
  }

  #admissionIdOf(
    sessionId: string,
    key: { readonly principalId: string; readonly inputId: string },
  ): string | undefined {
    return this.#tables.admissionByInput.get(compositeKey(key.principalId, sessionId, key.inputId));
  }
}

export interface StoredMessage extends MessageRow {
  readonly transcriptId: string;
  readonly sessionId: string;
}

function assertGapless({ sessionId, expectedSeq, events }: AppendRequest): void {
  invariant(events.length > 0, 'an append has at least one event');
  for (const [index, event] of events.entries()) {
    invariant(event.sessionId === sessionId, 'an append belongs to one session');
    invariant(event.seq === expectedSeq + index + 1, 'the events of an append follow on without a gap');
  }
}

function inputKeyOf({ principalId, inputId }: Admission): AdmissionKey {
  return { principalId, inputId };
}
