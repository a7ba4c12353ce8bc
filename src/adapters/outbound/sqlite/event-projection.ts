import {
  crossBoundary,
  editAdmission,
  loseAdmission,
  moveAdmission,
  requeueAdmission,
  requestStop,
  startAdmission,
} from '../../../core/domain/admission/admission.ts';
import type { Admission, PromptPayload } from '../../../core/domain/admission/admission.ts';
import { invariant } from '../../../core/domain/invariant.ts';
import { completeCompression, failCompression } from '../../../core/domain/lineage/lineage.ts';
import type { CompressionLineage } from '../../../core/domain/lineage/lineage.ts';
import { endedAdmission } from '../../../core/domain/session/ending.ts';
import { requestedApproval } from '../../../core/domain/session/evolve.ts';
import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { Message, MessageMeta } from '../../../core/domain/transcript/message.ts';
import type { ApprovalsTable } from './approvals-table.ts';
import type { AdmissionsTable } from './admissions-table.ts';
import type { CompressionsTable } from './compressions-table.ts';
import type { LearntWindowsTable } from './learnt-windows-table.ts';
import type { MessagesTable } from './messages-table.ts';
import type { SessionsTable } from './sessions-table.ts';
import type { ToolCallsTable } from './tool-calls-table.ts';

type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>;

export interface ProjectedTables {
  readonly sessions: SessionsTable;
  readonly messages: MessagesTable;
  readonly admissions: AdmissionsTable;
  readonly compressions: CompressionsTable;
  readonly toolCalls: ToolCallsTable;
  readonly approvals: ApprovalsTable;
  readonly learntWindows: LearntWindowsTable;
}

/**
 * Brings the tables to the state after an event, in the transaction that appends it: what `evolve` does to the state
 * in memory, on rows. The rules are the domain's own functions; only the plain numbers of a session's row are written
 * without being read.
 */
export function projectEvent(tables: ProjectedTables, event: SessionEvent): void {
  switch (event.type) {
    case 'session.created':
      return tables.sessions.insertRoot(event.sessionId, event.profile);
    case 'session.held':
      return tables.sessions.setHold(event.sessionId, event.hold);
    case 'session.released':
      return tables.sessions.setHold(event.sessionId, null);
    case 'session.updated':
      return tables.sessions.update(event.sessionId, event.changes);
    case 'session.deleted':
      return tables.sessions.delete(event.sessionId, event.at);
    case 'admission.queued':
      return tables.admissions.insert(event.admission, payloadOf(tables, event));
    case 'admission.edited':
      return tables.admissions.updateQueued(
        editAdmission(admissionOf(tables, event), event.payloadDigest),
        event.payload ?? null,
      );
    case 'admission.moved':
      return tables.admissions.updateQueued(moveAdmission(admissionOf(tables, event), event.position), null);
    case 'admission.requeued':
      return changeAdmission(tables, event, requeueAdmission);
    case 'turn.started':
      return startTurn(tables, event);
    case 'message.appended':
      return appendMessage(tables, event);
    case 'turn.stop_requested':
      return changeAdmission(tables, event, (admission) => requestStop(admission, { by: event.by, at: event.at }));
    case 'tool.started':
      return startCall(tables, event);
    case 'tool.finished':
      return tables.toolCalls.finish({ ...event, status: event.result });
    case 'approval.requested':
      return tables.approvals.request(event.sessionId, requestedApproval(event));
    case 'approval.resolved':
      return tables.approvals.resolve(event.approvalId, event);
    case 'admission.cancelled':
    case 'admission.merged':
      return changeAdmission(tables, event, (admission) => endedAdmission(admission, event));
    case 'turn.resolved':
      tables.toolCalls.abandon(event.sessionId, event.at);
      return changeAdmission(tables, event, (admission) => endedAdmission(admission, event));
    case 'turn.settled':
      tables.toolCalls.abandon(event.sessionId, event.at);
      changeAdmission(tables, event, (admission) => endedAdmission(admission, event));
      return hideMessages(tables, event);
    case 'turn.lost':
      return changeAdmission(tables, event, (admission) => loseAdmission(admission, event.evidence));
    case 'compression.started':
      return beginCompression(tables, event);
    case 'compression.completed':
      return completeOpenCompression(tables, event);
    case 'compression.failed':
      return failOpenCompression(tables, event);
    case 'window.learnt':
      return tables.learntWindows.learn(event);
  }
}

function payloadOf(tables: ProjectedTables, event: EventOf<'admission.queued'>): PromptPayload {
  const { payload, payloadFrom } = event;
  const stored = payloadFrom === undefined ? payload : tables.admissions.payloadOf(payloadFrom)?.payload;
  invariant(stored !== undefined, 'an admission comes with its payload, or repeats one that is stored');
  return stored;
}

function startTurn(tables: ProjectedTables, event: EventOf<'turn.started'>): void {
  const generation = event.executionGeneration;
  invariant(generation !== null, 'a claim has a generation');
  tables.sessions.setGeneration(event.sessionId, generation);
  changeAdmission(tables, event, (admission) =>
    startAdmission(admission, { epoch: event.epoch, generation, at: event.at }),
  );
}

function appendMessage(tables: ProjectedTables, event: EventOf<'message.appended'>): void {
  const { sessionId, contextTokens, boundary, step, answeredBy } = event;
  const { message } = event;
  const tip = tipOf(tables, event);
  if (event.contentFrom === undefined) tables.messages.insert(tip, withContent(message));
  else tables.messages.adopt({ from: event.contentFrom, to: message.id, transcript: tip });
  tables.sessions.countMessages(tip, 1);
  if (answeredBy !== null) tables.sessions.setAnswered(sessionId, answeredBy);
  if (contextTokens !== null) {
    tables.sessions.setUsageAnchor(sessionId, { tokens: contextTokens, messageId: message.id });
  }
  if (event.admissionId === null) return; // a fork's own beginning
  const admission = admissionOf(tables, event);
  if (admission.status !== 'started') return;
  const crossed = boundary === null ? admission : crossBoundary(admission, boundary);
  const promptMessageId = message.kind === 'prompt' ? message.id : crossed.promptMessageId;
  tables.admissions.updateProgress({ ...crossed, step, promptMessageId });
}

function startCall(tables: ProjectedTables, event: EventOf<'tool.started'>): void {
  const { sessionId, admissionId, callId, name, at } = event;
  tables.toolCalls.start({
    sessionId,
    admissionId: admissionId ?? '',
    transcriptId: tipOf(tables, event),
    callId,
    name,
    at,
  });
  const admission = crossBoundary(admissionOf(tables, event), 'tool');
  tables.admissions.updateProgress(admission);
}

function hideMessages(tables: ProjectedTables, event: EventOf<'turn.settled'>): void {
  if (event.hidden.length === 0) return;
  tables.sessions.countMessages(tipOf(tables, event), -tables.messages.hide(event.hidden));
  tables.sessions.setUsageAnchor(event.sessionId, null);
}

function beginCompression(tables: ProjectedTables, event: EventOf<'compression.started'>): void {
  tables.compressions.begin(event, tipOf(tables, event));
  if (event.trigger === 'manual') tables.sessions.setGeneration(event.sessionId, event.executionGeneration ?? 0);
}

/** P7: the whole child, the closed parent and the moved tip, in one transaction with the event. */
function completeOpenCompression(tables: ProjectedTables, event: EventOf<'compression.completed'>): void {
  const { sessionId, parentTranscript: parent, childTranscript: child } = event;
  const lineage = completeCompression(lineageOf(tables, event), {
    compressionId: event.compressionId,
    parentId: parent,
    childId: child,
    at: event.at,
  });
  if (child !== parent) tables.sessions.rotate({ root: sessionId, parent, child, at: event.at });
  const hidden = tables.messages.hide(child === parent ? event.retired : []);
  for (const { fromId, message } of [...event.head, ...event.tail]) {
    const copied = tables.messages.copy({ from: fromId, to: message.id, transcript: child });
    invariant(copied, 'a compression carries over messages that are stored');
  }
  movePrompts(tables, event);
  tables.messages.insert(child, withContent(event.summary));
  tables.sessions.countMessages(child, event.head.length + 1 + event.tail.length - hidden);
  tables.compressions.complete(event);
  tables.sessions.setLineage(lineage);
  tables.sessions.setUsageAnchor(sessionId, null);
  tables.sessions.raiseRevision(sessionId);
}

function failOpenCompression(tables: ProjectedTables, event: EventOf<'compression.failed'>): void {
  tables.sessions.setLineage(failCompression(lineageOf(tables, event), event));
  tables.compressions.fail(event);
}

/** From now on the prompt of an open admission is the copy of its message. */
function movePrompts(tables: ProjectedTables, event: EventOf<'compression.completed'>): void {
  const copyOf = new Map([...event.head, ...event.tail].map(({ fromId, message }) => [fromId, message.id]));
  for (const admission of tables.admissions.open(event.sessionId)) {
    const promptMessageId = copyOf.get(admission.promptMessageId ?? 0);
    if (promptMessageId !== undefined) tables.admissions.updateProgress({ ...admission, promptMessageId });
  }
}

function changeAdmission(tables: ProjectedTables, event: SessionEvent, change: (a: Admission) => Admission): void {
  tables.admissions.updateLife(change(admissionOf(tables, event)));
}

function admissionOf(tables: ProjectedTables, event: SessionEvent): Admission {
  const admission = tables.admissions.byId(event.admissionId ?? '');
  invariant(
    admission?.sessionId === event.sessionId && admission.status !== 'terminal',
    'an event names an open admission of its session',
  );
  return admission;
}

function lineageOf(tables: ProjectedTables, event: SessionEvent): CompressionLineage {
  const head = tables.sessions.head(event.sessionId);
  invariant(head !== null, 'only a created session has a lineage');
  return head.lineage;
}

function tipOf(tables: ProjectedTables, event: SessionEvent): string {
  const tip = tables.sessions.tipOf(event.sessionId);
  invariant(tip !== null, 'only a created session has a transcript');
  return tip;
}

function withContent(message: Message | MessageMeta): Message {
  invariant('text' in message, 'an event that is appended brings the content of its messages');
  return message;
}
