import { positionGap } from '../../src/core/domain/admission/admission.ts';
import type { Admission, PromptPayload } from '../../src/core/domain/admission/admission.ts';
import type { SessionEvent, SessionEventBody, SessionEventHeader } from '../../src/core/domain/session/events.ts';
import type { Hold, SessionProfile } from '../../src/core/domain/session/state.ts';
import { messageFrom, textDraft } from '../../src/core/domain/transcript/message.ts';
import type { Message, MessageDraft, ToolCall } from '../../src/core/domain/transcript/message.ts';

/* Whole values with sensible defaults: a test names only what it is about. */

export const aPrincipal = 'local';
export const aSessionId = 'session-1';
export const anInstant = '2030-01-01T00:00:00.000Z';

/** The model of a session that nobody gave another one. */
export const ownModel = { provider: 'custom', model: 'test-model', baseUrl: null } as const;

export function aProfile(overrides: Partial<SessionProfile> = {}): SessionProfile {
  return {
    principalId: aPrincipal,
    requestId: 'create-1',
    requestDigest: 'digest-of-create-1',
    source: 'cli',
    title: null,
    ...ownModel,
    cwd: null,
    systemPrompt: null,
    systemPromptTokens: 0,
    toolsets: [],
    tools: [],
    forkedFrom: null,
    startedAt: anInstant,
    ...overrides,
  };
}

export function aPayload(overrides: Partial<PromptPayload> = {}): PromptPayload {
  return { text: 'Hello', parts: null, ...overrides };
}

/** An admission that waits; ids and digests follow from its number unless they are given. */
export function anAdmission(overrides: Partial<Admission> = {}): Admission {
  const seq = overrides.seq ?? 1;
  return {
    seq,
    admissionId: `admission-${seq}`,
    inputId: `input-${seq}`,
    sessionId: aSessionId,
    principalId: aPrincipal,
    position: seq * positionGap,
    revision: 1,
    status: 'queued',
    outcome: null,
    delivery: 'queue',
    steers: null,
    mergedInto: null,
    requestDigest: `digest-of-request-${seq}`,
    payloadDigest: `digest-of-payload-${seq}`,
    ownerEpoch: null,
    executionGeneration: null,
    boundary: 'none',
    requeueCount: 0,
    step: 0,
    promptMessageId: null,
    stopRequested: null,
    evidence: null,
    failure: null,
    resolution: null,
    retriedBy: null,
    acceptedAt: anInstant,
    startedAt: null,
    settledAt: null,
    ...overrides,
  };
}

/** A prompt that is not stored yet. */
export function aDraft(overrides: Partial<MessageDraft> = {}): MessageDraft {
  return {
    ...textDraft({ role: 'user', kind: 'prompt', text: 'Hello', tokens: 5, admissionId: 'admission-1' }),
    ...overrides,
  };
}

/** A model's answer that is not stored yet. */
export function anAnswer(overrides: Partial<MessageDraft> = {}): MessageDraft {
  return aDraft({
    role: 'assistant',
    kind: 'answer',
    text: 'Hello to you',
    tokens: 7,
    finishReason: 'stop',
    answeredBy: ownModel,
    ...overrides,
  });
}

/** A tool's result that is not stored yet. */
export function aToolResult(toolCallId: string, overrides: Partial<MessageDraft> = {}): MessageDraft {
  return aDraft({ role: 'tool', kind: 'tool', text: 'done', tokens: 5, toolCallId, ...overrides });
}

/** What a compression puts in place of a middle; no admission owns it. */
export function aSummary(overrides: Partial<MessageDraft> = {}): MessageDraft {
  return aDraft({ kind: 'summary', text: 'What was said before', tokens: 9, admissionId: null, ...overrides });
}

export function aToolCall(overrides: Partial<ToolCall> = {}): ToolCall {
  return { id: 'call-1', name: 'read_file', arguments: '{"path":"a.txt"}', ...overrides };
}

/** A stored prompt. */
export function aMessage(overrides: Partial<Message> = {}): Message {
  const { id = 1, at = anInstant, ...draft } = overrides;
  return { ...messageFrom(aDraft(draft), id, at), ...overrides };
}

export function aHold(overrides: Partial<Hold> = {}): Hold {
  return { reason: 'operator', until: null, by: aPrincipal, at: anInstant, ...overrides };
}

/** An event with its header: the first of the session unless it is said otherwise. */
export function anEvent(body: SessionEventBody, header: Partial<SessionEventHeader> = {}): SessionEvent {
  return {
    sessionId: aSessionId,
    seq: 1,
    at: anInstant,
    epoch: 1,
    admissionId: body.type === 'admission.queued' ? body.admission.admissionId : null,
    executionGeneration: null,
    ...header,
    ...body,
  };
}
