import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { CompressionProgressEvent, DeltaEvent, LiveEvent } from '../../../core/ports/event-hub.ts';
import type { SessionChanges } from '../../../core/domain/session/update.ts';
import type { DurableWireEvent, LiveWireEvent } from '../../../protocol/events.ts';
import { maxShownTextBytes } from '../../../protocol/limits.ts';
import { bareMessageToWire, messageToWire } from './message-to-wire.ts';
import { evidenceToWire, failureToWire, resolutionToWire, steersToWire, usageToWire } from './receipt-to-wire.ts';

export function eventToWire(event: SessionEvent): DurableWireEvent {
  const header = {
    session_id: event.sessionId,
    seq: event.seq,
    at: event.at,
    epoch: event.epoch,
    ...(event.admissionId === null ? {} : { admission_id: event.admissionId }),
    ...(event.executionGeneration === null ? {} : { execution_generation: event.executionGeneration }),
  };
  return { ...header, ...bodyToWire(event) };
}

/** The event that stands in the place of one that is too large. */
export function omittedEvent(event: SessionEvent, bytes: number): DurableWireEvent {
  const { session_id, seq, at, epoch } = eventToWire(event);
  return { type: 'event.omitted', session_id, seq, at, epoch, payload: { type: event.type, bytes } };
}

export function liveEventToWire(event: LiveEvent): LiveWireEvent {
  return event.type === 'compression.progress' ? progressToWire(event) : deltaToWire(event);
}

function progressToWire(event: CompressionProgressEvent): LiveWireEvent {
  const { compressionId, rung, model, form, request } = event;
  return {
    type: event.type,
    session_id: event.sessionId,
    at: event.at,
    epoch: event.epoch,
    ...(event.admissionId === null ? {} : { admission_id: event.admissionId }),
    execution_generation: event.executionGeneration,
    payload: { compression_id: compressionId, rung, model, form, request },
  };
}

function deltaToWire(event: DeltaEvent): LiveWireEvent {
  return {
    type: event.type,
    session_id: event.sessionId,
    at: event.at,
    epoch: event.epoch,
    admission_id: event.admissionId,
    execution_generation: event.executionGeneration,
    payload: { step: event.step, offset: event.offset, text: event.text },
  };
}

type Body = {
  [T in DurableWireEvent['type']]: Pick<Extract<DurableWireEvent, { type: T }>, 'type' | 'payload'>;
}[DurableWireEvent['type']];

function bodyToWire(event: SessionEvent): Body {
  switch (event.type) {
    case 'session.created': {
      const { title, source, provider, model } = event.profile;
      return { type: event.type, payload: { title, source, provider, model } };
    }
    case 'session.updated':
      return { type: event.type, payload: { ...changesToWire(event.changes), by: event.by } };
    case 'session.held': {
      const { reason, until, by, at } = event.hold;
      return { type: event.type, payload: { reason, until, by, at } };
    }
    case 'session.deleted':
    case 'session.released':
    case 'turn.stop_requested':
      return { type: event.type, payload: { by: event.by } };
    case 'tool.started':
      return { type: event.type, payload: { call_id: event.callId, name: event.name } };
    case 'tool.finished':
      return { type: event.type, payload: { call_id: event.callId, name: event.name, result: event.result } };
    case 'approval.requested': {
      const { approvalId, callId, name, messageId, options, expiresAt } = event;
      const payload = { approval_id: approvalId, call_id: callId, name, message_id: messageId };
      return { type: event.type, payload: { ...payload, options: [...options], expires_at: expiresAt } };
    }
    case 'approval.resolved': {
      const { approvalId, callId, name, decision, by, reason } = event;
      const payload = { approval_id: approvalId, call_id: callId, name, decision, by };
      return { type: event.type, payload: { ...payload, ...(reason === null ? {} : { reason }) } };
    }
    case 'admission.queued': {
      const { inputId, seq, position } = event.admission;
      const retry = event.payloadFrom === undefined ? {} : { retry_of: event.payloadFrom };
      const steers = steersToWire(event.admission);
      return { type: event.type, payload: { input_id: inputId, sequence: seq, position, ...retry, ...steers } };
    }
    case 'admission.moved':
      return { type: event.type, payload: { position: event.position } };
    case 'admission.cancelled':
      return {
        type: event.type,
        payload: event.failure === undefined ? {} : { failure: failureToWire(event.failure) },
      };
    case 'admission.merged':
      return { type: event.type, payload: { into: event.into, message_id: event.messageId } };
    case 'admission.edited':
    case 'turn.started':
      return { type: event.type, payload: {} };
    case 'admission.requeued':
      return { type: event.type, payload: { requeue_count: event.requeueCount } };
    case 'message.appended':
      return messageAppended(event);
    case 'turn.settled':
      return turnSettled(event);
    case 'turn.lost':
      return { type: event.type, payload: { evidence: evidenceToWire(event.evidence) } };
    case 'turn.resolved': {
      const retried = event.retriedBy === null ? {} : { retried_by: event.retriedBy };
      return { type: event.type, payload: { resolution: resolutionToWire(event.resolution), ...retried } };
    }
    case 'compression.started': {
      const { compressionId, trigger, tokensBefore, request } = event;
      const byHand = request === undefined ? {} : { request_id: request.requestId };
      const payload = { compression_id: compressionId, trigger, tokens_before: tokensBefore, ...byHand };
      return { type: event.type, payload };
    }
    case 'compression.completed':
      return compressionCompleted(event);
    case 'compression.failed': {
      const { compressionId, failure, opensBreaker } = event;
      const payload = { compression_id: compressionId, failure: failureToWire(failure), opens_breaker: opensBreaker };
      return { type: event.type, payload };
    }
    case 'window.learnt': {
      const { provider, model, baseUrl } = event.model;
      const payload = { provider, model, base_url: baseUrl, window_tokens: event.windowTokens };
      return { type: event.type, payload };
    }
  }
}

type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>;

function changesToWire({ title, model, archived, pinned }: SessionChanges): Omit<UpdatedPayload, 'by'> {
  return {
    ...(title === undefined ? {} : { title }),
    ...(model === undefined ? {} : { provider: model.provider, model: model.model, base_url: model.baseUrl }),
    ...(archived === undefined ? {} : { archived }),
    ...(pinned === undefined ? {} : { pinned }),
  };
}

type UpdatedPayload = Extract<DurableWireEvent, { type: 'session.updated' }>['payload'];

function messageAppended(event: EventOf<'message.appended'>): Body {
  const { message, step, boundary } = event;
  const shown = 'text' in message ? messageToWire(message, maxShownTextBytes) : bareMessageToWire(message, event.at);
  return { type: event.type, payload: { message: shown, step, boundary } };
}

function turnSettled(event: EventOf<'turn.settled'>): Body {
  return {
    type: event.type,
    payload: {
      outcome: event.outcome,
      ...(event.failure === null ? {} : { failure: failureToWire(event.failure) }),
      ...(event.evidence === null ? {} : { evidence: evidenceToWire(event.evidence) }),
      ...(event.usage === null ? {} : { usage: usageToWire(event.usage) }),
      hidden: [...event.hidden],
    },
  };
}

function compressionCompleted(event: EventOf<'compression.completed'>): Body {
  return {
    type: event.type,
    payload: {
      compression_id: event.compressionId,
      trigger: event.trigger,
      parent_transcript: event.parentTranscript,
      child_transcript: event.childTranscript,
      summary_message_id: event.summary.id,
      tokens_before: event.tokensBefore,
      tokens_after: event.tokensAfter,
      model: event.model,
      opens_breaker: event.opensBreaker,
      ...(event.usage === null ? {} : { usage: usageToWire(event.usage) }),
    },
  };
}
