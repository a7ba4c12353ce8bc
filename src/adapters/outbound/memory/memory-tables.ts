import type { Admission } from '../../../core/domain/admission/admission.ts';
import type { Approval, ApprovalResolution } from '../../../core/domain/approval/approval.ts';
import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { SessionState } from '../../../core/domain/session/state.ts';
import type { Message } from '../../../core/domain/transcript/message.ts';
import type { CompressionRecord, CreatedSession, LearntWindow, StoredPayload } from '../../../core/ports/ledger.ts';

/** What the memory store holds: plain data, rows that are never changed but replaced, and the indexes to find them. */
export interface MemoryTables {
  readonly storeId: string;
  /** `epoch`, and the greatest message id and admission sequence number that were ever stored. */
  readonly counters: Map<'epoch' | 'messageId' | 'admissionSeq', number>;

  /** By session id, oldest session first. */
  readonly states: Map<string, SessionState>;
  /** By session id, gapless from 1; of a deleted session only the last one is left. */
  readonly events: Map<string, SessionEvent[]>;
  /** By session id, then admission id; settled ones stay for ever. */
  readonly admissions: Map<string, Map<string, Admission>>;
  /** By admission id. */
  readonly payloads: Map<string, StoredPayload>;
  /** By approval id, oldest first; closed ones stay as long as the session. */
  readonly approvals: Map<string, ApprovalRow>;
  readonly transcripts: Map<string, TranscriptRow>;
  /** By transcript id, then message id. */
  readonly messages: Map<string, Map<number, MessageRow>>;

  /** From (principal, session, input id) to the admission id. */
  readonly admissionByInput: Map<string, string>;
  readonly sessionByAdmission: Map<string, string>;
  readonly transcriptByMessage: Map<number, string>;
  /** From (principal, request id) to the session that it made. */
  readonly created: Map<string, CreatedSession>;
  /** The sessions with an admission that is not terminal, a compression that is open or a hold that ends by itself. */
  readonly unfinished: Set<string>;
  /** By compression id: those that were started by hand. */
  readonly compressions: Map<string, CompressionRecord>;
  /** From (principal, session, request id) to the compression that it started. */
  readonly compressionByRequest: Map<string, string>;
  /** From (provider, model, base_url) to what was learnt last. */
  readonly learntWindows: Map<string, LearntWindow>;
}

/** One physical list of messages. The first transcript's id is the session's id. */
export interface TranscriptRow {
  readonly id: string;
  readonly sessionId: string;
  readonly parentId: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly endReason: 'compression' | null;
}

export interface ApprovalRow extends Approval {
  readonly sessionId: string;
  readonly resolution: ApprovalResolution | null;
}

export interface MessageRow {
  readonly message: Message;
  /** Whether the message is part of its transcript, or was retired or hidden. */
  readonly active: boolean;
}

export function emptyTables(storeId: string): MemoryTables {
  return {
    storeId,
    counters: new Map(),
    states: new Map(),
    events: new Map(),
    admissions: new Map(),
    payloads: new Map(),
    approvals: new Map(),
    transcripts: new Map(),
    messages: new Map(),
    admissionByInput: new Map(),
    sessionByAdmission: new Map(),
    transcriptByMessage: new Map(),
    created: new Map(),
    unfinished: new Set(),
    compressions: new Map(),
    compressionByRequest: new Map(),
    learntWindows: new Map(),
  };
}

/** The rows are shared, for nobody changes them; the tables are not. */
export function cloneTables(tables: MemoryTables): MemoryTables {
  return {
    storeId: tables.storeId,
    counters: new Map(tables.counters),
    states: new Map(tables.states),
    events: mapValues(tables.events, (events) => [...events]),
    admissions: mapValues(tables.admissions, (rows) => new Map(rows)),
    payloads: new Map(tables.payloads),
    approvals: new Map(tables.approvals),
    transcripts: new Map(tables.transcripts),
    messages: mapValues(tables.messages, (rows) => new Map(rows)),
    admissionByInput: new Map(tables.admissionByInput),
    sessionByAdmission: new Map(tables.sessionByAdmission),
    transcriptByMessage: new Map(tables.transcriptByMessage),
    created: new Map(tables.created),
    unfinished: new Set(tables.unfinished),
    compressions: new Map(tables.compressions),
    compressionByRequest: new Map(tables.compressionByRequest),
    learntWindows: new Map(tables.learntWindows),
  };
}

/** A key of several parts; no two lists of parts have the same one. */
export function compositeKey(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}

export function partsOfKey(key: string): readonly string[] {
  return JSON.parse(key) as string[]; // what `compositeKey` made
}

function mapValues<K, V>(map: ReadonlyMap<K, V>, change: (value: V) => V): Map<K, V> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
