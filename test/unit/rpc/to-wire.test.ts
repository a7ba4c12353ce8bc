import { describe, expect, test } from 'vitest';
import { eventToWire, liveEventToWire, omittedEvent } from '../../../src/adapters/inbound/rpc/event-to-wire.ts';
import { EventFrames } from '../../../src/adapters/inbound/rpc/event-frames.ts';
import { receiptToWire } from '../../../src/adapters/inbound/rpc/receipt-to-wire.ts';
import { refusalToWire, UnexpectedRefusal } from '../../../src/adapters/inbound/rpc/refusal-to-wire.ts';
import { failureOf } from '../../../src/core/domain/model/failure.ts';
import type { SessionEventBody, SessionEventType } from '../../../src/core/domain/session/events.ts';
import type { Refusal } from '../../../src/core/domain/session/refusal.ts';
import type { DeltaEvent } from '../../../src/core/ports/event-hub.ts';
import { errorData, errors } from '../../../src/protocol/errors.ts';
import { anyEvent } from '../../../src/protocol/events.ts';
import { receipt as receiptSchema } from '../../../src/protocol/receipt.ts';
import {
  aHold,
  aMessage,
  anAdmission,
  anEvent,
  anInstant,
  aPayload,
  aProfile,
  aToolCall,
} from '../../support/builders.ts';

const secret = 'must not leave';
const usage = { inputTokens: 10, outputTokens: null, totalTokens: 12 };
const failure = failureOf('rate_limited', 'Slow down', { retryable: true, providerStatus: 429, retryAfterMs: 500 });
const evidence = {
  boundary: 'tool' as const,
  ownerEpoch: 1,
  startedAt: anInstant,
  lostAt: anInstant,
  step: 2,
  openToolCalls: ['call-1'],
};
const resolution = { action: 'retry' as const, by: 'local', at: anInstant };

/** One of every kind. The table is complete: a new event does not compile without its line. */
const events = {
  'session.created': {
    body: {
      type: 'session.created',
      profile: aProfile({ title: 'Trip', systemPrompt: secret, requestDigest: secret }),
    },
    payload: { title: 'Trip', source: 'cli', provider: 'custom', model: 'test-model' },
  },
  'session.held': {
    body: { type: 'session.held', hold: aHold() },
    payload: { reason: 'operator', until: null, by: 'local', at: anInstant },
  },
  'session.released': { body: { type: 'session.released', by: 'local' }, payload: { by: 'local' } },
  'admission.queued': {
    body: {
      type: 'admission.queued',
      admission: anAdmission({ requestDigest: secret }),
      payload: aPayload({ text: secret }),
      payloadFrom: 'admission-0',
    },
    payload: { input_id: 'input-1', sequence: 1, position: 1_048_576, retry_of: 'admission-0' },
  },
  'session.updated': {
    body: {
      type: 'session.updated',
      changes: { title: null, model: { provider: 'p', model: 'm', baseUrl: null }, pinned: true },
      by: 'local',
    },
    payload: { title: null, provider: 'p', model: 'm', base_url: null, pinned: true, by: 'local' },
  },
  'session.deleted': { body: { type: 'session.deleted', by: 'local' }, payload: { by: 'local' } },
  'admission.edited': {
    body: { type: 'admission.edited', payload: aPayload({ text: secret }), payloadDigest: 'd' },
    payload: {},
  },
  'admission.moved': { body: { type: 'admission.moved', position: 7 }, payload: { position: 7 } },
  'admission.cancelled': { body: { type: 'admission.cancelled' }, payload: {} },
  'admission.merged': {
    body: { type: 'admission.merged', into: 'admission-1', messageId: 7 },
    payload: { into: 'admission-1', message_id: 7 },
  },
  'admission.requeued': { body: { type: 'admission.requeued', requeueCount: 2 }, payload: { requeue_count: 2 } },
  'tool.started': {
    body: { type: 'tool.started', callId: 'c1', name: 'look' },
    payload: { call_id: 'c1', name: 'look' },
  },
  'tool.finished': {
    body: { type: 'tool.finished', callId: 'c1', name: 'look', result: 'answered' },
    payload: { call_id: 'c1', name: 'look', result: 'answered' },
  },
  'approval.requested': {
    body: {
      type: 'approval.requested',
      approvalId: 'approval-1',
      messageId: 2,
      callId: 'c1',
      name: 'look',
      options: ['approve', 'deny'],
      expiresAt: anInstant,
    },
    payload: {
      approval_id: 'approval-1',
      message_id: 2,
      call_id: 'c1',
      name: 'look',
      options: ['approve', 'deny'],
      expires_at: anInstant,
    },
  },
  'approval.resolved': {
    body: {
      type: 'approval.resolved',
      approvalId: 'approval-1',
      callId: 'c1',
      name: 'look',
      decision: 'closed',
      by: 'local',
      reason: 'stop_requested',
    },
    payload: {
      approval_id: 'approval-1',
      call_id: 'c1',
      name: 'look',
      decision: 'closed',
      by: 'local',
      reason: 'stop_requested',
    },
  },
  'turn.started': { body: { type: 'turn.started' }, payload: {} },
  'message.appended': {
    body: {
      type: 'message.appended',
      message: aMessage({
        role: 'assistant',
        kind: 'answer',
        parts: [
          { type: 'reasoning', text: 'Hm', providerMetadata: { anthropic: { signature: secret } } },
          { type: 'image', mediaType: 'image/png', data: 'aGVsbG8=' },
          { type: 'file', mediaType: 'text/plain', data: 'aGk=', name: 'a.txt' },
        ],
        toolCalls: [aToolCall({ providerMetadata: { google: { signature: secret } } })],
        usage,
        finishReason: 'tool_calls',
      }),
      boundary: 'model',
      step: 1,
      contextTokens: 99,
      answeredBy: null,
    },
    payload: {
      step: 1,
      boundary: 'model',
      message: {
        id: 1,
        origin_id: 1,
        role: 'assistant',
        kind: 'answer',
        text: 'Hello',
        parts: [
          { type: 'reasoning', text: 'Hm' },
          { type: 'image', media_type: 'image/png', bytes: 5 },
          { type: 'file', media_type: 'text/plain', bytes: 2, name: 'a.txt' },
        ],
        tool_calls: [{ id: 'call-1', name: 'read_file', arguments: '{"path":"a.txt"}' }],
        partial: false,
        admission_id: 'admission-1',
        tokens: 5,
        usage: { input_tokens: 10, output_tokens: null, total_tokens: 12 },
        finish_reason: 'tool_calls',
        at: anInstant,
      },
    },
  },
  'turn.stop_requested': { body: { type: 'turn.stop_requested', by: 'local' }, payload: { by: 'local' } },
  'turn.settled': {
    body: { type: 'turn.settled', outcome: 'failed', failure, evidence: null, usage, hidden: [3] },
    payload: {
      outcome: 'failed',
      failure: {
        reason: 'rate_limited',
        message: 'Slow down',
        retryable: true,
        provider_status: 429,
        retry_after_ms: 500,
      },
      usage: { input_tokens: 10, output_tokens: null, total_tokens: 12 },
      hidden: [3],
    },
  },
  'turn.lost': {
    body: { type: 'turn.lost', evidence },
    payload: {
      evidence: {
        boundary: 'tool',
        owner_epoch: 1,
        started_at: anInstant,
        lost_at: anInstant,
        step: 2,
        open_tool_calls: ['call-1'],
      },
    },
  },
  'turn.resolved': {
    body: { type: 'turn.resolved', resolution, retriedBy: 'admission-2' },
    payload: { resolution, retried_by: 'admission-2' },
  },
  'compression.started': {
    body: { type: 'compression.started', compressionId: 'c', trigger: 'preflight', tokensBefore: 100 },
    payload: { compression_id: 'c', trigger: 'preflight', tokens_before: 100 },
  },
  'compression.completed': {
    body: {
      type: 'compression.completed',
      compressionId: 'c',
      trigger: 'overflow',
      parentTranscript: 'session-1',
      childTranscript: 'child-1',
      head: [],
      summary: aMessage({ id: 7, text: secret }),
      tail: [{ fromId: 2, message: aMessage({ id: 8 }) }],
      retired: [1],
      tokensBefore: 100,
      tokensAfter: 40,
      model: 'summary-model',
      usage: null,
      opensBreaker: true,
    },
    payload: {
      compression_id: 'c',
      trigger: 'overflow',
      parent_transcript: 'session-1',
      child_transcript: 'child-1',
      summary_message_id: 7,
      tokens_before: 100,
      tokens_after: 40,
      model: 'summary-model',
      opens_breaker: true,
    },
  },
  'compression.failed': {
    body: { type: 'compression.failed', compressionId: 'c', failure, usage: null, opensBreaker: true },
    payload: {
      compression_id: 'c',
      failure: expect.objectContaining({ reason: 'rate_limited' }) as object,
      opens_breaker: true,
    },
  },
  'window.learnt': {
    body: {
      type: 'window.learnt',
      model: { provider: 'custom', model: 'big', baseUrl: 'http://127.0.0.1:1/v1' },
      windowTokens: 32_000,
    },
    payload: { provider: 'custom', model: 'big', base_url: 'http://127.0.0.1:1/v1', window_tokens: 32_000 },
  },
} as const satisfies { [T in SessionEventType]: { body: Extract<SessionEventBody, { type: T }>; payload: object } };

describe('an event on the wire', () => {
  test.each(Object.entries(events))('%s carries what is listed and nothing else', (type, { body, payload }) => {
    const wire = eventToWire(anEvent(body, { admissionId: 'admission-1', executionGeneration: 3, seq: 9 }));

    expect(wire).toEqual({
      type,
      session_id: 'session-1',
      seq: 9,
      at: anInstant,
      epoch: 1,
      admission_id: 'admission-1',
      execution_generation: 3,
      payload,
    });
    anyEvent.parse(wire);
    expect(JSON.stringify(wire)).not.toContain(secret);
  });

  test('leaves out what it has not', () => {
    const wire = eventToWire(anEvent({ type: 'session.released', by: 'local' }));

    expect(wire).not.toHaveProperty('admission_id');
    expect(wire).not.toHaveProperty('execution_generation');
  });

  test('that was read back without its content says so', () => {
    const { id, originId, role, kind, tokens, admissionId, toolCallIds, toolCallId } = aMessage();
    const message = { id, originId, role, kind, tokens, admissionId, toolCallIds, toolCallId };

    const wire = eventToWire(
      anEvent({ type: 'message.appended', message, boundary: null, step: 0, contextTokens: null, answeredBy: null }),
    );

    anyEvent.parse(wire);
    expect(wire.payload).toMatchObject({ message: { text: '', truncated: true } });
  });

  test('with a text beyond 64 KiB is cut between two characters', () => {
    const message = aMessage({ text: `a${'😀'.repeat(20_000)}` });
    const wire = eventToWire(
      anEvent({ type: 'message.appended', message, boundary: null, step: 0, contextTokens: null, answeredBy: null }),
    );

    expect(wire.payload).toMatchObject({ message: { text: `a${'😀'.repeat(16_383)}`, truncated: true } });
  });

  test('that is too large all the same is replaced, and keeps its number', () => {
    const toolCalls = Array.from({ length: 40_000 }, (_, index) => aToolCall({ id: `call-${index}` }));
    const event = anEvent(
      {
        type: 'message.appended',
        message: aMessage({ toolCalls }),
        boundary: null,
        step: 0,
        contextTokens: null,
        answeredBy: null,
      },
      { seq: 42 },
    );

    const frame = Buffer.from(new EventFrames().durable(event)).toString();

    expect(JSON.parse(frame)).toMatchObject({
      method: 'event',
      params: { type: 'event.omitted', seq: 42, payload: { type: 'message.appended' } },
    });
    anyEvent.parse(omittedEvent(event, 5));
  });

  test.each(['message.delta', 'reasoning.delta'] as const)('%s says where it starts', (type) => {
    const wire = liveEventToWire(aDelta({ type }));

    anyEvent.parse(wire);
    expect(wire).toMatchObject({ type, payload: { step: 1, offset: 5, text: 'ho' } });
  });

  test('is made into a frame once, however many want it', () => {
    const frames = new EventFrames();
    const event = aDelta({});

    expect(frames.live(event)).toBe(frames.live(event));
  });
});

function aDelta(overrides: Partial<DeltaEvent>): DeltaEvent {
  return {
    type: 'message.delta',
    sessionId: 'session-1',
    at: anInstant,
    epoch: 1,
    admissionId: 'admission-1',
    executionGeneration: 1,
    step: 1,
    offset: 5,
    text: 'ho',
    ...overrides,
  };
}

describe('a receipt on the wire', () => {
  test('carries what is listed and nothing else', () => {
    const admission = anAdmission({
      status: 'terminal',
      outcome: 'interrupted',
      executionGeneration: 3,
      evidence,
      failure,
      resolution,
      retriedBy: 'admission-2',
      startedAt: anInstant,
      settledAt: anInstant,
      requestDigest: secret,
      payloadDigest: secret,
      principalId: secret,
    });

    const wire = receiptToWire({ admission, ahead: 0, duplicate: true, blockedBy: ['session_held'] });

    expect(receiptSchema.parse(wire)).toEqual(wire);
    expect(JSON.stringify(wire)).not.toContain(secret);
    expect(wire).toMatchObject({
      retried_by: 'admission-2',
      resolution,
      blocked_by: ['session_held'],
      evidence: { step: 2 },
    });
  });
});

describe('a refusal on the wire', () => {
  const receipt = { admission: anAdmission(), ahead: 0, duplicate: true, blockedBy: [] };

  test.each<[Refusal, object]>([
    [{ reason: 'not_found', what: 'admission' }, { what: 'admission' }],
    [{ reason: 'admission_conflict', receipt }, { receipt: { input_id: 'input-1' } }],
    [{ reason: 'request_conflict', sessionId: 's' }, { session_id: 's' }],
    [{ reason: 'revision_conflict', revision: 4, receipt: null }, { revision: 4 }],
    [{ reason: 'stale_generation', executionGeneration: 4 }, { execution_generation: 4 }],
    [{ reason: 'unknown_execution', receipt }, { receipt: {} }],
    [{ reason: 'already_resolved', receipt }, { receipt: {} }],
    [{ reason: 'not_unknown', receipt }, { receipt: {} }],
    [{ reason: 'not_queued', receipt }, { receipt: {} }],
    [{ reason: 'turn_over', executionGeneration: 4 }, { execution_generation: 4 }],
    [
      { reason: 'queue_full', limit: 5 },
      { limit: 5, retryable: true },
    ],
    [{ reason: 'draining' }, { retryable: true }],
  ])('%j has its own code', (refusal, data) => {
    const answer = refusalToWire(refusal);

    expect(answer).toMatchObject({
      kind: 'error',
      error: { code: errors[refusal.reason as keyof typeof errors].code, data: { reason: refusal.reason, ...data } },
    });
    if (answer.kind === 'error') errorData.parse(answer.error.data);
  });

  test.each<Refusal>([
    { reason: 'not_claimable' },
    { reason: 'stop_requested' },
    { reason: 'tip_moved' },
    { reason: 'compression_open' },
  ])('%j is none that a client may see', (refusal) => {
    expect(() => refusalToWire(refusal)).toThrow(UnexpectedRefusal);
  });
});
