import type { Admission } from '../domain/admission/admission.ts';
import type { SessionEvent } from '../domain/session/events.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import type { CommitListener } from './sessions.ts';

/**
 * Writes one line for each step in an admission's life and each compression, after its commit. No content is in it: a
 * failure's message may quote a provider that quotes the prompt, so it is left to the receipt.
 */
export function makeTransitionLog(logger: Logger): CommitListener {
  return (_sessionId, _state, events) => {
    for (const event of events) {
      const fields = fieldsOf(event);
      if (fields === null) continue;
      const { sessionId, seq, admissionId, executionGeneration } = event;
      logger.info(event.type, { sessionId, seq, admissionId, executionGeneration, ...fields });
    }
  };
}

function steersOf({ steers }: Admission): LogFields {
  return steers === null ? {} : { steersGeneration: steers.generation, ifOver: steers.ifOver };
}

/** What a line says beside its header; null for an event that has no line. */
function fieldsOf(event: SessionEvent): LogFields | null {
  switch (event.type) {
    case 'message.appended':
      return null;
    case 'session.created':
      return { source: event.profile.source, provider: event.profile.provider, model: event.profile.model };
    case 'session.held':
      return { reason: event.hold.reason, until: event.hold.until };
    case 'session.released':
    case 'session.deleted':
      return { by: event.by };
    case 'session.updated':
      return { by: event.by, changed: Object.keys(event.changes).join(' ') };
    case 'admission.moved':
      return { position: event.position };
    case 'admission.queued':
      return { inputId: event.admission.inputId, sequence: event.admission.seq, ...steersOf(event.admission) };
    case 'admission.merged':
      return { into: event.into };
    case 'admission.cancelled':
      return event.failure === undefined ? {} : { reason: event.failure.reason };
    case 'admission.edited':
    case 'turn.started':
      return {};
    case 'admission.requeued':
      return { requeueCount: event.requeueCount };
    case 'tool.started':
      return { callId: event.callId, tool: event.name };
    case 'tool.finished':
      return { callId: event.callId, tool: event.name, result: event.result };
    case 'approval.requested':
      return { approvalId: event.approvalId, callId: event.callId, tool: event.name, expiresAt: event.expiresAt };
    case 'approval.resolved': {
      const { approvalId, callId, name, decision, by, reason } = event;
      return { approvalId, callId, tool: name, decision, by, reason };
    }
    case 'turn.stop_requested':
      return { by: event.by };
    case 'turn.settled':
      return {
        outcome: event.outcome,
        reason: event.failure?.reason ?? null,
        providerStatus: event.failure?.providerStatus ?? null,
      };
    case 'turn.lost':
      return { boundary: event.evidence.boundary, step: event.evidence.step };
    case 'turn.resolved':
      return { action: event.resolution.action, by: event.resolution.by, retriedBy: event.retriedBy };
    case 'compression.started':
      return { compressionId: event.compressionId, trigger: event.trigger, tokensBefore: event.tokensBefore };
    case 'compression.completed': {
      const { compressionId, parentTranscript, childTranscript, tokensBefore, tokensAfter } = event;
      const { opensBreaker } = event;
      return { compressionId, parentTranscript, childTranscript, tokensBefore, tokensAfter, opensBreaker };
    }
    case 'compression.failed':
      return {
        compressionId: event.compressionId,
        reason: event.failure.reason,
        opensBreaker: event.opensBreaker,
      };
    case 'window.learnt':
      return { ...event.model, windowTokens: event.windowTokens };
  }
}
