import type { Admission } from '../../../core/domain/admission/admission.ts';
import { receiptOf } from '../../../core/domain/admission/receipt.ts';
import type { ContextReport } from '../../../core/domain/compression/context-size.ts';
import { blockersOf, startedAdmission } from '../../../core/domain/session/state.ts';
import type { ForkOrigin, Hold, SessionProfile, SessionState } from '../../../core/domain/session/state.ts';
import type { Message } from '../../../core/domain/transcript/message.ts';
import type { SessionSummary } from '../../../core/ports/session-queries.ts';
import type { StorageHealth } from '../../../core/use-cases/gateway-status.ts';
import type { Partial, PendingPrompt, SessionSnapshot } from '../../../core/use-cases/resume-session.ts';
import { maxShownTextBytes } from '../../../protocol/limits.ts';
import type { WireMessage } from '../../../protocol/message.ts';
import type {
  WireContextReport,
  WireHold,
  WirePendingItem,
  WireSessionSummary,
  WireSnapshot,
} from '../../../protocol/snapshot.ts';
import { openApprovalsToWire } from './approval-to-wire.ts';
import { messageToWire, promptToWire } from './message-to-wire.ts';
import { blockersToWire, evidenceToWire, steersToWire } from './receipt-to-wire.ts';
import { TextBudget } from './shown-text.ts';

/* A snapshot is one frame, so all its texts together have a limit. */
const maxMessageTextBytes = 1024 * 1024;
const maxPageTextBytes = 2 * 1024 * 1024;
const maxPendingTextBytes = 1024 * 1024;

const noContent = { text: '', parts: null };
const leftOut = { text: '', truncated: true } as const;

export function snapshotToWire(
  snapshot: SessionSnapshot,
  now: { readonly epoch: number; readonly storeId: string; readonly storage: StorageHealth },
): WireSnapshot {
  const { state, partial, context } = snapshot;
  const page = newestThatFit(snapshot.messages);
  return {
    session_id: state.sessionId,
    stored_session_id: state.lineage.tipId,
    ...profileToWire(state.profile),
    messages: page,
    more_messages: snapshot.moreMessages || page.length < snapshot.messages.length,
    pending: pendingToWire(state, snapshot.pending),
    running: runningToWire(startedAdmission(state)),
    partial: partial === null ? null : partialToWire(partial),
    approvals: openApprovalsToWire(snapshot.approvals),
    hold: state.hold === null ? null : holdToWire(state.hold),
    blocked_by: blockersToWire(blockersOf(state), now.storage),
    revision: state.revision,
    archived: state.archived,
    pinned: state.pinned,
    execution_generation: state.executionGeneration,
    epoch: now.epoch,
    store_id: now.storeId,
    last_seq: state.seq,
    usage: page.findLast(({ usage }) => usage !== undefined)?.usage ?? null,
    context: contextToWire(context),
  };
}

export function summaryToWire(summary: SessionSummary): WireSessionSummary {
  return {
    session_id: summary.sessionId,
    stored_session_id: summary.tipId,
    ...profileToWire(summary.profile),
    revision: summary.revision,
    archived: summary.archived,
    pinned: summary.pinned,
    execution_generation: summary.executionGeneration,
    transcripts: summary.transcripts,
    compressions: summary.compressions,
    message_count: summary.messageCount,
    queued: summary.queued,
    started: summary.started,
    unknown: summary.unknown,
    held: summary.held,
    last_seq: summary.lastSeq,
    updated_at: summary.updatedAt,
  };
}

export function holdToWire({ reason, until, by, at }: Hold): WireHold {
  return { reason, until, by, at };
}

export function contextToWire(context: ContextReport): WireContextReport {
  return {
    tokens: context.tokens,
    local_tokens: context.localTokens,
    reported_tokens: context.reportedTokens,
    window_tokens: context.windowTokens,
    window_source: context.windowSource,
    reserve_tokens: context.reserveTokens,
    reserve_source: context.reserveSource,
    trigger_tokens: context.triggerTokens,
    trigger_source: context.triggerSource,
    compression_enabled: context.compressionEnabled,
    breaker_open_until: context.breaker.openUntil,
    breaker_reason: context.breaker.reason,
    breaker_failures: context.breaker.failures,
  };
}

type ProfileOnWire = Pick<
  WireSnapshot,
  'title' | 'source' | 'provider' | 'model' | 'base_url' | 'cwd' | 'toolsets' | 'forked_from' | 'created_at'
>;

function profileToWire(profile: Omit<SessionProfile, 'systemPrompt'>): ProfileOnWire {
  return {
    title: profile.title,
    source: profile.source,
    provider: profile.provider,
    model: profile.model,
    base_url: profile.baseUrl,
    cwd: profile.cwd,
    toolsets: [...profile.toolsets],
    forked_from: forkToWire(profile.forkedFrom),
    created_at: profile.startedAt,
  };
}

function forkToWire(origin: ForkOrigin | null): ProfileOnWire['forked_from'] {
  return origin === null ? null : { session_id: origin.sessionId, message_id: origin.messageId };
}

/** The newest messages that fit, in order; the newest one always. */
function newestThatFit(messages: readonly Message[]): WireMessage[] {
  const fitting: WireMessage[] = [];
  let bytes = 0;
  for (const message of messages.toReversed()) {
    const shown = messageToWire(message, maxMessageTextBytes);
    bytes += textBytes(shown);
    if (fitting.length > 0 && bytes > maxPageTextBytes) break;
    fitting.push(shown);
  }
  return fitting.reverse();
}

/** About the size of a message on the wire. */
function textBytes({ text, parts = [], tool_calls = [] }: WireMessage): number {
  const partBytes = parts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 0), 0);
  const callBytes = tool_calls.reduce((sum, call) => sum + call.arguments.length, 0);
  return text.length + partBytes + callBytes;
}

function pendingToWire(state: SessionState, pending: readonly PendingPrompt[]): WirePendingItem[] {
  const budget = new TextBudget(maxShownTextBytes, maxPendingTextBytes);
  return pending.map(({ admission, content }) => ({
    admission_id: admission.admissionId,
    input_id: admission.inputId,
    ...(content === undefined ? leftOut : promptToWire(content ?? noContent, budget)),
    status: admission.status,
    sequence: admission.seq,
    ahead: receiptOf(state, admission, true).ahead,
    revision: admission.revision,
    execution_generation: admission.executionGeneration,
    boundary: admission.boundary,
    ...steersToWire(admission),
    ...(admission.evidence === null ? {} : { evidence: evidenceToWire(admission.evidence) }),
  }));
}

function runningToWire(admission: Admission | undefined): WireSnapshot['running'] {
  if (admission === undefined) return null;
  return {
    admission_id: admission.admissionId,
    input_id: admission.inputId,
    execution_generation: admission.executionGeneration ?? 0,
    step: admission.step,
    boundary: admission.boundary,
    started_at: admission.startedAt ?? admission.acceptedAt,
    stop_requested: admission.stopRequested !== null,
  };
}

function partialToWire({ executionGeneration, step, offset, text }: Partial): WireSnapshot['partial'] {
  return { execution_generation: executionGeneration, step, offset, text };
}
