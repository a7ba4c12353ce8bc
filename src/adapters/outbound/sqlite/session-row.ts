import type { Breaker, CompressionTrigger, OpenCompression } from '../../../core/domain/lineage/lineage.ts';
import type {
  Hold,
  ModelAddress,
  SessionProfile,
  SessionState,
  UsageAnchor,
} from '../../../core/domain/session/state.ts';
import { fromJsonList } from './json-column.ts';

/** A session without its messages and its admissions. */
export type SessionHead = Omit<SessionState, 'messages' | 'open' | 'runningCalls' | 'approvals'>;

/** The columns of a root row that `session.create` fixes. Those that a child lacks are never NULL on a root row. */
export interface ProfileRow {
  readonly principal_id: string;
  readonly request_id: string;
  readonly request_digest: string;
  readonly source: string;
  readonly title: string | null;
  readonly provider: string;
  readonly model: string;
  readonly base_url: string | null;
  readonly cwd: string | null;
  readonly system_prompt: string | null;
  readonly system_prompt_tokens: number;
  readonly toolsets: string;
  readonly tools: string;
  readonly forked_from: string | null;
  readonly forked_from_message_id: number | null;
  readonly started_at: string;
}

/** A root row with what else makes up its head. */
export interface HeadRow extends ProfileRow {
  readonly id: string;
  readonly last_seq: number;
  readonly revision: number;
  readonly archived: number;
  readonly pinned: number;
  readonly deleted_at: string | null;
  readonly execution_generation: number;
  readonly hold_reason: string | null;
  readonly hold_until: string | null;
  readonly hold_by: string | null;
  readonly hold_at: string | null;
  readonly tip_session_id: string;
  readonly tip_parent_id: string | null;
  readonly transcript_count: number;
  readonly compression_count: number;
  readonly breaker_failures: number;
  readonly breaker_open_until: string | null;
  readonly breaker_reason: string | null;
  readonly breaker_recent: string | null;
  readonly answered_provider: string | null;
  readonly answered_model: string | null;
  readonly answered_base_url: string | null;
  readonly usage_anchor_tokens: number | null;
  readonly usage_anchor_message_id: number | null;
  readonly compression_id: string | null;
  readonly compression_trigger: string | null;
  readonly compression_admission_id: string | null;
  readonly compression_epoch: number | null;
  readonly compression_started_at: string | null;
  readonly compression_generation: number | null;
}

const profileColumnNames = [
  'principal_id',
  'request_id',
  'request_digest',
  'source',
  'title',
  'provider',
  'model',
  'base_url',
  'cwd',
  'system_prompt',
  'system_prompt_tokens',
  'toolsets',
  'tools',
  'forked_from',
  'forked_from_message_id',
  'started_at',
] as const satisfies readonly (keyof ProfileRow)[];

export const profileColumns = profileColumnNames.join(', ');

const shownProfileColumns = profileColumnNames.filter((name) => name !== 'system_prompt').map((name) => `s.${name}`);

/** The columns of a `HeadRow` but for the system prompt, from the root row `s`, its tip `tip` and the open compression `c`. */
export const shownHeadColumns = `s.id, ${shownProfileColumns.join(', ')},
  s.revision, s.archived, s.pinned, s.deleted_at, s.execution_generation, s.hold_reason, s.hold_until, s.hold_by, s.hold_at,
  s.tip_session_id, tip.parent_session_id AS tip_parent_id, s.transcript_count, s.compression_count,
  s.breaker_failures, s.breaker_open_until, s.breaker_reason, s.breaker_recent,
  s.answered_provider, s.answered_model, s.answered_base_url, s.usage_anchor_tokens, s.usage_anchor_message_id,
  c.id AS compression_id, c.trigger AS compression_trigger, c.admission_id AS compression_admission_id,
  c.epoch AS compression_epoch, c.started_at AS compression_started_at,
  c.execution_generation AS compression_generation,
  (SELECT max(seq) FROM session_events WHERE session_id = s.id) AS last_seq`;

export const headColumns = `${shownHeadColumns}, s.system_prompt`;

export const headTables = `sessions s JOIN sessions tip ON tip.id = s.tip_session_id
  LEFT JOIN compressions c ON c.session_id = s.id AND c.status = 'started'`;

export function headFromRow(row: HeadRow): SessionHead {
  return {
    sessionId: row.id,
    seq: row.last_seq,
    profile: profileFromRow(row),
    revision: row.revision,
    archived: row.archived === 1,
    pinned: row.pinned === 1,
    deletedAt: row.deleted_at,
    executionGeneration: row.execution_generation,
    hold: holdFrom(row),
    lineage: {
      rootId: row.id,
      tipId: row.tip_session_id,
      parentId: row.tip_parent_id,
      length: row.transcript_count,
      compressions: row.compression_count,
      open: openCompressionFrom(row),
      breaker: breakerFrom(row),
    },
    usageAnchor: usageAnchorFrom(row),
    answeredBy: answeredByFrom(row),
  };
}

function profileFromRow(row: ProfileRow): SessionProfile {
  return { ...shownProfileFromRow(row), systemPrompt: row.system_prompt };
}

export function shownProfileFromRow(row: Omit<ProfileRow, 'system_prompt'>): Omit<SessionProfile, 'systemPrompt'> {
  return {
    principalId: row.principal_id,
    requestId: row.request_id,
    requestDigest: row.request_digest,
    source: row.source,
    title: row.title,
    provider: row.provider,
    model: row.model,
    baseUrl: row.base_url,
    cwd: row.cwd,
    systemPromptTokens: row.system_prompt_tokens,
    toolsets: fromJsonList(row.toolsets),
    tools: fromJsonList(row.tools),
    forkedFrom: row.forked_from === null ? null : { sessionId: row.forked_from, messageId: row.forked_from_message_id },
    startedAt: row.started_at,
  };
}

export function profileToRow(profile: SessionProfile): ProfileRow {
  return {
    principal_id: profile.principalId,
    request_id: profile.requestId,
    request_digest: profile.requestDigest,
    source: profile.source,
    title: profile.title,
    provider: profile.provider,
    model: profile.model,
    base_url: profile.baseUrl,
    cwd: profile.cwd,
    system_prompt: profile.systemPrompt,
    system_prompt_tokens: profile.systemPromptTokens,
    toolsets: JSON.stringify(profile.toolsets),
    tools: JSON.stringify(profile.tools),
    forked_from: profile.forkedFrom?.sessionId ?? null,
    forked_from_message_id: profile.forkedFrom?.messageId ?? null,
    started_at: profile.startedAt,
  };
}

export function holdFrom(row: Pick<HeadRow, 'hold_reason' | 'hold_until' | 'hold_by' | 'hold_at'>): Hold | null {
  const { hold_reason: reason, hold_until: until, hold_by: by, hold_at: at } = row;
  return reason === null || by === null || at === null ? null : { reason, until, by, at };
}

function usageAnchorFrom(row: HeadRow): UsageAnchor | null {
  const { usage_anchor_tokens: tokens, usage_anchor_message_id: messageId } = row;
  return tokens === null || messageId === null ? null : { tokens, messageId };
}

export function breakerFrom(
  row: Pick<HeadRow, 'breaker_failures' | 'breaker_open_until' | 'breaker_reason' | 'breaker_recent'>,
): Breaker {
  return {
    failures: row.breaker_failures,
    openUntil: row.breaker_open_until,
    reason: row.breaker_reason as Breaker['reason'], // written from a breaker
    recent: row.breaker_recent === null ? [] : (JSON.parse(row.breaker_recent) as number[]), // likewise
  };
}

function answeredByFrom(row: HeadRow): ModelAddress | null {
  const { answered_provider: provider, answered_model: model, answered_base_url: baseUrl } = row;
  return provider === null || model === null ? null : { provider, model, baseUrl };
}

function openCompressionFrom(row: HeadRow): OpenCompression | null {
  const { compression_id: compressionId, compression_epoch: epoch, compression_started_at: startedAt } = row;
  if (compressionId === null || epoch === null || startedAt === null) return null;
  return {
    compressionId,
    trigger: row.compression_trigger as CompressionTrigger, // written from an event of this type
    admissionId: row.compression_admission_id,
    epoch,
    startedAt,
    executionGeneration: row.compression_generation ?? row.execution_generation,
  };
}
