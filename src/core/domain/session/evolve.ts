import {
  crossBoundary,
  editAdmission,
  loseAdmission,
  moveAdmission,
  requeueAdmission,
  requestStop,
  startAdmission,
} from '../admission/admission.ts';
import type { Admission } from '../admission/admission.ts';
import type { Approval } from '../approval/approval.ts';
import { invariant } from '../invariant.ts';
import { beginCompression, completeCompression, failCompression, newLineage } from '../lineage/lineage.ts';
import type { OpenCompression } from '../lineage/lineage.ts';
import { metaOf } from '../transcript/message.ts';
import type { MessageMeta } from '../transcript/message.ts';
import { deletedSession } from './delete.ts';
import { endedAdmission, isEnding } from './ending.ts';
import type { EndingEvent } from './ending.ts';
import type { CompressionResult, SessionEvent } from './events.ts';
import { isSameModel, occupant } from './state.ts';
import type { ModelAddress, SessionProfile, SessionState, UsageAnchor } from './state.ts';
import { updatedSession } from './update.ts';

type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>;

/**
 * The state after one event. It is total for every event that `decide` makes, whether just decided or read back from
 * the log, and it breaks with an `InvariantViolation` on a history that `decide` can't have made.
 */
export function evolve(state: SessionState | null, event: SessionEvent): SessionState {
  if (event.type === 'session.created') {
    invariant(state === null && event.seq === 1, 'a session is created once, by its first event');
    return createdSession(event.sessionId, event.profile);
  }
  invariant(state !== null, 'only a created session has a history');
  invariant(event.seq === state.seq + 1, 'sequence numbers are gapless');
  invariant(state.deletedAt === null, 'nothing happens to a session that was deleted');
  return { ...applied(state, event), seq: event.seq };
}

export function createdSession(sessionId: string, profile: SessionProfile): SessionState {
  return {
    sessionId,
    seq: 1,
    profile,
    revision: 1,
    archived: false,
    pinned: false,
    deletedAt: null,
    executionGeneration: 0,
    hold: null,
    lineage: newLineage(sessionId),
    messages: [],
    usageAnchor: null,
    answeredBy: null,
    runningCalls: [],
    approvals: [],
    open: [],
  };
}

function applied(state: SessionState, event: Exclude<SessionEvent, { type: 'session.created' }>): SessionState {
  switch (event.type) {
    case 'session.held':
      return { ...state, hold: event.hold, revision: state.revision + 1 };
    case 'session.released':
      return { ...state, hold: null, revision: state.revision + 1 };
    case 'session.updated':
      return updatedSession(state, event.changes);
    case 'session.deleted':
      invariant(state.open.length === 0 && state.lineage.open === null, 'only a settled session is deleted');
      return deletedSession(state, event.at);
    case 'admission.queued':
      return queued(state, event.admission);
    case 'admission.edited':
      return changed(state, event, (admission) => editAdmission(admission, event.payloadDigest));
    case 'admission.moved':
      return moved(state, event);
    case 'admission.cancelled':
    case 'admission.merged':
      return closed(state, event);
    case 'admission.requeued':
      return changed(state, event, requeueAdmission);
    case 'turn.started':
      return started(state, event);
    case 'message.appended':
      return appended(state, event);
    case 'tool.started':
      return callStarted(state, event);
    case 'tool.finished':
      return callFinished(state, event);
    case 'approval.requested':
      return { ...state, approvals: [...state.approvals, requestedApproval(event)] };
    case 'approval.resolved':
      return approvalResolved(state, event);
    case 'turn.stop_requested':
      return changed(state, event, (admission) => requestStop(admission, { by: event.by, at: event.at }));
    case 'turn.settled':
      return hidden(closed(state, event), event.hidden);
    case 'turn.lost':
      return changed(state, event, (admission) => loseAdmission(admission, event.evidence));
    case 'turn.resolved':
      return closed(state, event);
    case 'compression.started':
      return compressing(state, event);
    case 'compression.completed':
      return compressed(state, event);
    case 'compression.failed':
      return { ...state, lineage: failCompression(state.lineage, event) };
    case 'window.learnt':
      return state;
  }
}

function queued(state: SessionState, admission: Admission): SessionState {
  const { admissionId, inputId, principalId } = admission;
  const isTaken = state.open.some(
    (other) => other.admissionId === admissionId || (other.inputId === inputId && other.principalId === principalId),
  );
  invariant(admission.status === 'queued' && !isTaken, 'a fresh admission is queued, and its names are its own');
  return { ...state, open: insertedByPosition(state.open, admission) };
}

function moved(state: SessionState, event: EventOf<'admission.moved'>): SessionState {
  const after = changed(state, event, (admission) => moveAdmission(admission, event.position));
  const inOrder = after.open.toSorted((a, b) => a.position - b.position || a.seq - b.seq);
  return { ...after, open: inOrder };
}

function started(state: SessionState, event: EventOf<'turn.started'>): SessionState {
  const generation = event.executionGeneration;
  invariant(generation === state.executionGeneration + 1, 'the generation grows by one at each claim');
  invariant(occupant(state) === undefined, 'P3: one turn at a time');
  return changed({ ...state, executionGeneration: generation }, event, (admission) =>
    startAdmission(admission, { epoch: event.epoch, generation, at: event.at }),
  );
}

function appended(state: SessionState, event: EventOf<'message.appended'>): SessionState {
  const message = metaOf(event.message);
  const last = state.messages.at(-1);
  invariant(last === undefined || last.id < message.id, 'message ids grow within a transcript');
  const answeredBy = event.answeredBy ?? state.answeredBy;
  const next = {
    ...state,
    usageAnchor: anchorAfter(state, event, answeredBy),
    answeredBy,
    messages: [...state.messages, message],
  };
  if (event.admissionId === null) return next; // a fork's own beginning
  return changed(next, event, (admission) => {
    if (admission.status !== 'started') return admission;
    const crossed = event.boundary === null ? admission : crossBoundary(admission, event.boundary);
    return {
      ...crossed,
      step: event.step,
      promptMessageId: message.kind === 'prompt' ? message.id : crossed.promptMessageId,
    };
  });
}

function anchorAfter(
  state: SessionState,
  { contextTokens, message }: EventOf<'message.appended'>,
  answeredBy: ModelAddress | null,
): UsageAnchor | null {
  if (contextTokens !== null) return { tokens: contextTokens, messageId: message.id };
  return isSameModel(answeredBy, state.answeredBy) ? state.usageAnchor : null;
}

function callStarted(state: SessionState, event: EventOf<'tool.started'>): SessionState {
  const { callId, name, at } = event;
  invariant(
    state.runningCalls.every((call) => call.callId !== callId),
    'a call is started once',
  );
  const runningCalls = [...state.runningCalls, { callId, name, startedAt: at }];
  return changed({ ...state, runningCalls }, event, (admission) => crossBoundary(admission, 'tool'));
}

function callFinished(state: SessionState, event: EventOf<'tool.finished'>): SessionState {
  const runningCalls = state.runningCalls.filter(({ callId }) => callId !== event.callId);
  invariant(runningCalls.length < state.runningCalls.length, 'only a call that was started finishes');
  return { ...state, runningCalls };
}

/** The request that an event makes. */
export function requestedApproval(event: EventOf<'approval.requested'>): Approval {
  const { approvalId, messageId, callId, name, options, expiresAt, admissionId, executionGeneration, at } = event;
  invariant(admissionId !== null && executionGeneration !== null, 'an approval is asked for by a turn');
  const approval = { approvalId, admissionId, executionGeneration, messageId, callId, name, options };
  return { ...approval, requestedAt: at, expiresAt };
}

function approvalResolved(state: SessionState, event: EventOf<'approval.resolved'>): SessionState {
  const approvals = state.approvals.filter(({ approvalId }) => approvalId !== event.approvalId);
  invariant(approvals.length < state.approvals.length, 'an approval is resolved once');
  return { ...state, approvals };
}

function compressing(state: SessionState, event: EventOf<'compression.started'>): SessionState {
  const open = openCompression(event);
  const byHand = open.trigger === 'manual';
  invariant(
    open.executionGeneration === state.executionGeneration + (byHand ? 1 : 0),
    'a compression by hand has a generation of its own, and any other that of its turn',
  );
  invariant(!byHand || occupant(state) === undefined, 'nothing runs beside a compression by hand');
  return {
    ...state,
    executionGeneration: open.executionGeneration,
    lineage: beginCompression(state.lineage, open),
  };
}

function openCompression(event: EventOf<'compression.started'>): OpenCompression {
  const { compressionId, trigger, admissionId, epoch, at } = event;
  const { executionGeneration } = event;
  invariant(executionGeneration !== null, 'a compression has a generation');
  return { compressionId, trigger, admissionId, epoch, startedAt: at, executionGeneration };
}

function compressed(state: SessionState, event: EventOf<'compression.completed'>): SessionState {
  const ids = new Map([...event.head, ...event.tail].map((carried) => [carried.fromId, carried.message.id]));
  return {
    ...state,
    revision: state.revision + 1,
    lineage: completeCompression(state.lineage, {
      compressionId: event.compressionId,
      parentId: event.parentTranscript,
      childId: event.childTranscript,
      at: event.at,
    }),
    messages: messagesAfter(state.messages, event),
    usageAnchor: null,
    open: state.open.map((admission) => ({
      ...admission,
      promptMessageId:
        admission.promptMessageId === null ? null : (ids.get(admission.promptMessageId) ?? admission.promptMessageId),
    })),
  };
}

export function messagesAfter(before: readonly MessageMeta[], result: CompressionResult): readonly MessageMeta[] {
  const retired = new Set(result.retired);
  const stays = result.childTranscript === result.parentTranscript ? before.filter(({ id }) => !retired.has(id)) : [];
  const carried = (messages: CompressionResult['head']): MessageMeta[] =>
    messages.map(({ message }) => metaOf(message));
  return [...stays, ...carried(result.head), metaOf(result.summary), ...carried(result.tail)];
}

/** Changes the admission that the event names. */
function changed(state: SessionState, event: SessionEvent, change: (a: Admission) => Admission): SessionState {
  const index = state.open.findIndex((admission) => admission.admissionId === event.admissionId);
  const admission = state.open[index];
  invariant(admission !== undefined, 'an event names an open admission');
  return { ...state, open: state.open.with(index, change(admission)) };
}

/** Ends the admission that the event names: the state forgets what is terminal. */
function closed(state: SessionState, event: EndingEvent): SessionState {
  const after = changed(state, event, (admission) => endedAdmission(admission, event));
  const open = after.open.filter((admission) => admission.status !== 'terminal');
  // A turn that ends takes its calls with it: closing it has given each a result. What waited has none.
  const isTurn = event.type === 'turn.settled' || event.type === 'turn.resolved';
  return { ...after, open, runningCalls: isTurn ? [] : after.runningCalls };
}

/** The admissions that these events end, as they are from then on; `before` is the state that the first event met. */
export function endedAdmissions(before: SessionState, events: readonly SessionEvent[]): readonly Admission[] {
  if (!events.some(isEnding)) return [];
  const ended: Admission[] = [];
  let state: SessionState = before;
  for (const event of events) {
    const admission = state.open.find(({ admissionId }) => admissionId === event.admissionId);
    if (admission !== undefined && isEnding(event)) ended.push(endedAdmission(admission, event));
    state = evolve(state, event);
  }
  return ended;
}

function hidden(state: SessionState, ids: readonly number[]): SessionState {
  if (ids.length === 0) return state;
  return { ...state, usageAnchor: null, messages: state.messages.filter((message) => !ids.includes(message.id)) };
}

/** Most admissions join at the end; a retry finds its place before those that wait. */
function insertedByPosition(open: readonly Admission[], admission: Admission): readonly Admission[] {
  const { position, seq } = admission;
  const before = open.findLastIndex(
    (other) => other.position < position || (other.position === position && other.seq < seq),
  );
  return open.toSpliced(before + 1, 0, admission);
}
