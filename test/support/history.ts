import { positionGap } from '../../src/core/domain/admission/admission.ts';
import type { Admission, Evidence, Resolution } from '../../src/core/domain/admission/admission.ts';
import type { Hold, SessionProfile } from '../../src/core/domain/session/state.ts';
import { admissionEvent, sessionEvent } from '../../src/core/domain/session/decision.ts';
import type { UnnumberedEvent } from '../../src/core/domain/session/decision.ts';
import type { SessionEventBody, ToolResultKind } from '../../src/core/domain/session/events.ts';
import type { Message } from '../../src/core/domain/transcript/message.ts';
import { aHold, aMessage, anAdmission, anAnswer, anInstant, aPrincipal, aProfile } from './builders.ts';

/*
 * Events of a past, for `given`: `queued(2)` is the second admission, `started(2)` its turn. A turn's execution
 * generation is 1 unless it is said otherwise.
 */

/** An event as a test tells it. Its number follows from its place; it is of the first epoch unless it says otherwise. */
export type Told = UnnumberedEvent & { readonly epoch?: number; readonly at?: string };

type BodyOf<T extends SessionEventBody['type']> = Omit<Extract<SessionEventBody, { type: T }>, 'type'>;

export function created(profile: Partial<SessionProfile> = {}): Told {
  return sessionEvent({ type: 'session.created', profile: aProfile(profile) });
}

export function held(hold: Partial<Hold> = {}): Told {
  return sessionEvent({ type: 'session.held', hold: aHold(hold) });
}

/** Without a third argument it is as the log gives it back: without the prompt's content. */
export function queued(
  n: number,
  overrides: Partial<Admission> = {},
  content: Pick<BodyOf<'admission.queued'>, 'payload' | 'payloadFrom'> = {},
): Told {
  const admission = anAdmission({ seq: n, ...overrides });
  return admissionEvent(admission, { type: 'admission.queued', admission, ...content });
}

/** The `n`-th place of a queue that nobody has reordered. */
export function place(n: number): number {
  return n * positionGap;
}

export function started(n: number, turn: { generation?: number; epoch?: number } = {}): Told {
  return { ...ofTurn(n, turn, { type: 'turn.started' }), epoch: turn.epoch ?? 1 };
}

/** The prompt's message joins the transcript, and with it the boundary `model`. */
export function prompted(n: number, overrides: Partial<Message> = {}, turn: { generation?: number } = {}): Told {
  return appended(n, aMessage({ admissionId: admissionIdOf(n), ...overrides }), { boundary: 'model', ...turn });
}

/** The model's answer joins the transcript. */
export function answered(n: number, overrides: Partial<Message> = {}, more: AppendedMore = {}): Told {
  const answer = anAnswer({ admissionId: admissionIdOf(n) });
  return appended(n, aMessage({ ...answer, ...overrides }), more);
}

/** The result of a tool call joins the transcript. */
export function toolResult(
  n: number,
  toolCallId: string,
  overrides: Partial<Message> = {},
  more: AppendedMore = {},
): Told {
  const result = { role: 'tool', kind: 'tool', text: 'done', tokens: 5, toolCallId } as const;
  return appended(n, aMessage({ ...result, admissionId: admissionIdOf(n), ...overrides }), more);
}

/** The intent of a tool call is stored. */
export function callStarted(n: number, callId: string, turn: { generation?: number; name?: string } = {}): Told {
  return ofTurn(n, turn, { type: 'tool.started', callId, name: turn.name ?? 'look' });
}

/** A tool call has come to an end; its result follows. */
export function callFinished(
  n: number,
  callId: string,
  more: { generation?: number; name?: string; result?: ToolResultKind } = {},
): Told {
  const { name = 'look', result = 'answered' } = more;
  return ofTurn(n, more, { type: 'tool.finished', callId, name, result });
}

/** A tool call waits for an approval. */
export function approvalRequested(n: number, body: Partial<BodyOf<'approval.requested'>> = {}): Told {
  return ofTurn(
    n,
    {},
    {
      type: 'approval.requested',
      approvalId: 'approval-1',
      messageId: 2,
      callId: 'call-1',
      name: 'look',
      options: ['approve', 'deny'],
      expiresAt: '2030-01-01T00:10:00.000Z',
      ...body,
    },
  );
}

export function approvalResolved(n: number, body: Partial<BodyOf<'approval.resolved'>> = {}): Told {
  const neutral = { approvalId: 'approval-1', callId: 'call-1', name: 'look', by: aPrincipal, reason: null } as const;
  return ofTurn(n, {}, { type: 'approval.resolved', ...neutral, decision: 'approved', ...body });
}

type AppendedMore = Partial<Omit<BodyOf<'message.appended'>, 'message'>> & { generation?: number };

export function appended(n: number, message: Message, more: AppendedMore = {}): Told {
  const { generation, ...rest } = more;
  const answeredBy = message.answeredBy ?? null;
  const body = { boundary: null, step: 1, contextTokens: null, answeredBy, ...rest };
  return ofTurn(n, generation === undefined ? {} : { generation }, { type: 'message.appended', message, ...body });
}

export function stopRequested(n: number, turn: { generation?: number; by?: string } = {}): Told {
  return ofTurn(n, turn, { type: 'turn.stop_requested', by: turn.by ?? aPrincipal });
}

export function settled(
  n: number,
  body: Partial<BodyOf<'turn.settled'>> = {},
  turn: { generation?: number } = {},
): Told {
  const neutral = { outcome: 'completed', failure: null, evidence: null, usage: null, hidden: [] } as const;
  return ofTurn(n, turn, { type: 'turn.settled', ...neutral, ...body });
}

export function requeued(n: number, requeueCount: number, turn: { generation?: number } = {}): Told {
  return ofTurn(n, turn, { type: 'admission.requeued', requeueCount });
}

export function lost(n: number, evidence: Partial<Evidence> = {}, turn: { generation?: number } = {}): Told {
  return ofTurn(n, turn, { type: 'turn.lost', evidence: someEvidence(evidence) });
}

export function resolved(
  n: number,
  resolution: Partial<Resolution> = {},
  more: { retriedBy?: string | null; generation?: number } = {},
): Told {
  return ofTurn(n, more, {
    type: 'turn.resolved',
    resolution: { action: 'discard', by: aPrincipal, at: anInstant, ...resolution },
    retriedBy: more.retriedBy ?? null,
  });
}

export function compressionStarted(
  n: number,
  body: Partial<BodyOf<'compression.started'>> = {},
  turn: { generation?: number; epoch?: number } = {},
): Told {
  const neutral = { compressionId: 'compression-1', trigger: 'preflight', tokensBefore: 100 } as const;
  return { ...ofTurn(n, turn, { type: 'compression.started', ...neutral, ...body }), epoch: turn.epoch ?? 1 };
}

export function compressionFailed(body: Partial<BodyOf<'compression.failed'>> = {}, at: string = anInstant): Told {
  const failure = { reason: 'unavailable', message: 'The model is down.' } as const;
  const neutral = { retryable: true, providerStatus: null, retryAfterMs: null };
  return {
    ...sessionEvent({
      type: 'compression.failed',
      compressionId: 'compression-1',
      failure: { ...failure, ...neutral },
      usage: null,
      opensBreaker: true,
      ...body,
    }),
    at,
  };
}

export function compressionCompleted(
  n: number,
  body: Partial<BodyOf<'compression.completed'>>,
  turn: { generation?: number } = {},
): Told {
  return ofTurn(n, turn, {
    type: 'compression.completed',
    compressionId: 'compression-1',
    trigger: 'preflight',
    parentTranscript: 'session-1',
    childTranscript: 'transcript-2',
    head: [],
    summary: aMessage({ kind: 'summary', text: 'What was said before', tokens: 9, admissionId: null }),
    tail: [],
    retired: [],
    tokensBefore: 100,
    tokensAfter: 40,
    model: 'summary-model',
    usage: null,
    opensBreaker: false,
    ...body,
  });
}

export function someEvidence(overrides: Partial<Evidence> = {}): Evidence {
  return {
    boundary: 'model',
    ownerEpoch: 1,
    startedAt: anInstant,
    lostAt: anInstant,
    step: 1,
    openToolCalls: [],
    ...overrides,
  };
}

export function admissionIdOf(n: number): string {
  return `admission-${String(n)}`;
}

function ofTurn(n: number, turn: { generation?: number }, body: SessionEventBody): UnnumberedEvent {
  return admissionEvent({ admissionId: admissionIdOf(n), executionGeneration: turn.generation ?? 1 }, body);
}
