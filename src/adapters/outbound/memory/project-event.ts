import type { Admission } from '../../../core/domain/admission/admission.ts';
import { invariant } from '../../../core/domain/invariant.ts';
import { endedAdmissions, requestedApproval } from '../../../core/domain/session/evolve.ts';
import type { CarriedMessage, SessionEvent } from '../../../core/domain/session/events.ts';
import type { SessionState } from '../../../core/domain/session/state.ts';
import { metaOf } from '../../../core/domain/transcript/message.ts';
import type { Message, MessageMeta } from '../../../core/domain/transcript/message.ts';
import { frozenCopy } from './frozen-copy.ts';
import { compositeKey, partsOfKey } from './memory-tables.ts';
import type { MemoryTables, MessageRow } from './memory-tables.ts';
import type { UndoLog } from './undo-log.ts';

type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>;

/** One event of an append with the states that it lies between. */
export interface Step {
  /** As it was decided, with its content. */
  readonly event: SessionEvent;
  readonly before: SessionState | null;
  readonly after: SessionState;
}

/**
 * Writes what one event changes into the tables, except for the log and the state themselves. It throws on an event
 * that can't have happened; the caller then rolls everything back.
 */
export function projectEvent(tables: MemoryTables, undo: UndoLog, step: Step): void {
  projectContent(tables, undo, step);
  projectAdmissions(tables, undo, step);
  const { sessionId, open, lineage, hold } = step.after;
  const endsByItself = (hold?.until ?? null) !== null;
  if (open.length > 0 || lineage.open !== null || endsByItself) undo.add(tables.unfinished, sessionId);
  else undo.remove(tables.unfinished, sessionId);
}

function projectContent(tables: MemoryTables, undo: UndoLog, { event, after }: Step): void {
  switch (event.type) {
    case 'session.created':
      return createSession(tables, undo, event);
    case 'admission.queued':
      return queueAdmission(tables, undo, event);
    case 'admission.edited':
      return editPayload(tables, undo, event);
    case 'session.deleted':
      return deleteContent(tables, undo, after);
    case 'message.appended':
      return insertMessage(tables, undo, after.lineage.tipId, withContent(tables, event));
    case 'turn.settled':
      return deactivate(tables, undo, event.hidden);
    case 'compression.completed':
      compress(tables, undo, event);
      return recordCompression(tables, undo, event);
    case 'compression.started':
    case 'compression.failed':
      return recordCompression(tables, undo, event);
    case 'window.learnt':
      return learnWindow(tables, undo, event);
    case 'approval.requested':
      return requestApproval(tables, undo, event);
    case 'approval.resolved':
      return resolveApproval(tables, undo, event);
    case 'session.updated':
    case 'session.held':
    case 'session.released':
    case 'admission.moved':
    case 'admission.cancelled':
    case 'admission.merged':
    case 'admission.requeued':
    case 'turn.started':
    case 'tool.started':
    case 'tool.finished':
    case 'turn.stop_requested':
    case 'turn.lost':
    case 'turn.resolved':
      return;
  }
}

function createSession(
  tables: MemoryTables,
  undo: UndoLog,
  { sessionId, at, profile }: EventOf<'session.created'>,
): void {
  openTranscript(tables, undo, { id: sessionId, sessionId, parentId: null, at });
  undo.put(tables.admissions, sessionId, new Map());
  const { principalId, requestId, requestDigest } = profile;
  undo.put(tables.created, compositeKey(principalId, requestId), frozenCopy({ sessionId, requestDigest }));
}

function queueAdmission(tables: MemoryTables, undo: UndoLog, event: EventOf<'admission.queued'>): void {
  const { admissionId, principalId, sessionId, inputId, seq, payloadDigest } = event.admission;
  const inputKey = compositeKey(principalId, sessionId, inputId);
  invariant(!tables.admissionByInput.has(inputKey), 'an append queues an input id once');
  invariant(!tables.sessionByAdmission.has(admissionId), 'an admission id is used once');
  undo.put(tables.admissionByInput, inputKey, admissionId);
  undo.put(tables.sessionByAdmission, admissionId, sessionId);
  raise(tables, undo, 'admissionSeq', seq);

  const payload = event.payload ?? tables.payloads.get(event.payloadFrom ?? '')?.payload;
  invariant(payload !== undefined, 'an admission comes with its payload');
  undo.put(tables.payloads, admissionId, frozenCopy({ payload, payloadDigest }));
}

function requestApproval(tables: MemoryTables, undo: UndoLog, event: EventOf<'approval.requested'>): void {
  invariant(!tables.approvals.has(event.approvalId), 'an approval id is used once');
  const row = { ...requestedApproval(event), sessionId: event.sessionId, resolution: null };
  undo.put(tables.approvals, event.approvalId, frozenCopy(row));
}

function resolveApproval(tables: MemoryTables, undo: UndoLog, event: EventOf<'approval.resolved'>): void {
  const { approvalId, decision, by, reason, at } = event;
  const row = tables.approvals.get(approvalId);
  invariant(row?.resolution === null, 'an approval is resolved once');
  undo.put(tables.approvals, approvalId, frozenCopy({ ...row, resolution: { decision, by, reason, at } }));
}

function editPayload(tables: MemoryTables, undo: UndoLog, event: EventOf<'admission.edited'>): void {
  const { admissionId, payload, payloadDigest } = event;
  invariant(payload !== undefined && admissionId !== null, 'an edit comes with its payload');
  undo.put(tables.payloads, admissionId, frozenCopy({ payload, payloadDigest }));
}

/** Leaves identities and outcomes. The events that are gone are taken out of the log with the append. */
function deleteContent(tables: MemoryTables, undo: UndoLog, { sessionId }: SessionState): void {
  for (const row of tables.transcripts.values()) {
    if (row.sessionId !== sessionId) continue;
    for (const id of rowsOf(tables, row.id).keys()) undo.delete(tables.transcriptByMessage, id);
    undo.put(tables.messages, row.id, new Map());
  }
  for (const admissionId of tables.admissions.get(sessionId)?.keys() ?? []) undo.delete(tables.payloads, admissionId);
  for (const approval of tables.approvals.values()) {
    if (approval.sessionId === sessionId) undo.delete(tables.approvals, approval.approvalId);
  }
  for (const [key, compressionId] of tables.compressionByRequest) {
    if (partsOfKey(key)[1] !== sessionId) continue;
    undo.delete(tables.compressions, compressionId);
    undo.delete(tables.compressionByRequest, key);
  }
}

function compress(tables: MemoryTables, undo: UndoLog, event: EventOf<'compression.completed'>): void {
  const { parentTranscript, childTranscript, sessionId, at } = event;
  if (childTranscript !== parentTranscript) {
    const parent = tables.transcripts.get(parentTranscript);
    invariant(parent?.endedAt === null, 'only an open transcript is rotated');
    undo.put(tables.transcripts, parentTranscript, frozenCopy({ ...parent, endedAt: at, endReason: 'compression' }));
    openTranscript(tables, undo, { id: childTranscript, sessionId, parentId: parentTranscript, at });
  }
  const copies = (carried: readonly CarriedMessage[]): Message[] =>
    carried.map(({ fromId, message }) => ({ ...messageRow(tables, fromId).message, ...message }));
  for (const message of [...copies(event.head), whole(event.summary), ...copies(event.tail)]) {
    insertMessage(tables, undo, childTranscript, message);
  }
  deactivate(tables, undo, event.retired);
}

/** Keeps what becomes of a compression by hand; the others have no record here. */
function recordCompression(
  tables: MemoryTables,
  undo: UndoLog,
  event: EventOf<'compression.started' | 'compression.completed' | 'compression.failed'>,
): void {
  const { compressionId, sessionId } = event;
  if (event.type === 'compression.started') {
    if (event.request === undefined) return;
    const { principalId, requestId, requestDigest } = event.request;
    const key = compositeKey(principalId, sessionId, requestId);
    invariant(!tables.compressionByRequest.has(key), 'a request starts one compression');
    undo.put(tables.compressionByRequest, key, compressionId);
    const { tokensBefore, executionGeneration } = event;
    const started = { status: 'started', tokensAfter: null, childTranscript: null, model: null } as const;
    const record = { ...started, compressionId, requestDigest, tokensBefore, usage: null, failure: null };
    undo.put(
      tables.compressions,
      compressionId,
      frozenCopy({ ...record, executionGeneration: executionGeneration ?? 0 }),
    );
    return;
  }
  const record = tables.compressions.get(compressionId);
  if (record === undefined) return;
  if (event.type === 'compression.failed') {
    const { failure, usage } = event;
    undo.put(tables.compressions, compressionId, frozenCopy({ ...record, status: 'failed', failure, usage }));
    return;
  }
  const { tokensBefore, tokensAfter, childTranscript, model, usage } = event;
  const completed = {
    ...record,
    status: 'completed',
    tokensBefore,
    tokensAfter,
    childTranscript,
    model,
    usage,
  } as const;
  undo.put(tables.compressions, compressionId, frozenCopy(completed));
}

function learnWindow(tables: MemoryTables, undo: UndoLog, { model, windowTokens, at }: EventOf<'window.learnt'>): void {
  const key = compositeKey(model.provider, model.model, model.baseUrl ?? '');
  undo.put(tables.learntWindows, key, frozenCopy({ model, windowTokens, learntAt: at }));
}

function openTranscript(
  tables: MemoryTables,
  undo: UndoLog,
  { id, sessionId, parentId, at }: { id: string; sessionId: string; parentId: string | null; at: string },
): void {
  invariant(!tables.transcripts.has(id), 'a transcript id is used once');
  const row = { id, sessionId, parentId, startedAt: at, endedAt: null, endReason: null };
  undo.put(tables.transcripts, id, frozenCopy(row));
  undo.put(tables.messages, id, new Map());
}

function insertMessage(tables: MemoryTables, undo: UndoLog, transcriptId: string, message: Message): void {
  invariant(!tables.transcriptByMessage.has(message.id), 'a message id is used once');
  undo.put(tables.transcriptByMessage, message.id, transcriptId);
  undo.put(rowsOf(tables, transcriptId), message.id, frozenCopy({ message, active: true }));
  raise(tables, undo, 'messageId', message.id);
}

function deactivate(tables: MemoryTables, undo: UndoLog, ids: readonly number[]): void {
  for (const id of ids) {
    const { message } = messageRow(tables, id);
    undo.put(rowsOf(tables, tables.transcriptByMessage.get(id) ?? ''), id, frozenCopy({ message, active: false }));
  }
}

function rowsOf(tables: MemoryTables, transcriptId: string): Map<number, MessageRow> {
  const rows = tables.messages.get(transcriptId);
  invariant(rows !== undefined, 'an event names a transcript that exists');
  return rows;
}

function messageRow(tables: MemoryTables, id: number): MessageRow {
  const row = tables.messages.get(tables.transcriptByMessage.get(id) ?? '')?.get(id);
  invariant(row !== undefined, 'an event names a message that exists');
  return row;
}

/** The message with what it brings, or with what the one says whose content it takes over. */
function withContent(tables: MemoryTables, { message, contentFrom }: EventOf<'message.appended'>): Message {
  if (contentFrom !== undefined) return { ...messageRow(tables, contentFrom).message, ...metaOf(message) };
  return whole(message);
}

function whole(message: Message | MessageMeta): Message {
  invariant('text' in message, 'a message is appended with its content');
  return message;
}

/** Keeps every admission that the event changed; one that it ended is kept for ever, though the state forgets it. */
function projectAdmissions(tables: MemoryTables, undo: UndoLog, step: Step): void {
  const rows = tables.admissions.get(step.after.sessionId);
  invariant(rows !== undefined, 'a session has a table of admissions');
  const ended = endedBy(step);
  for (const admission of ended === undefined ? step.after.open : [...step.after.open, ended]) {
    if (rows.get(admission.admissionId) !== admission) undo.put(rows, admission.admissionId, frozenCopy(admission));
  }
}

function endedBy({ event, before }: Step): Admission | undefined {
  return before === null || before === undefined ? undefined : endedAdmissions(before, [event])[0];
}

function raise(tables: MemoryTables, undo: UndoLog, counter: 'messageId' | 'admissionSeq', used: number): void {
  undo.put(tables.counters, counter, Math.max(used, tables.counters.get(counter) ?? 0));
}
