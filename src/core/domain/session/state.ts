import type { Admission } from '../admission/admission.ts';
import type { Approval } from '../approval/approval.ts';
import type { CompressionLineage } from '../lineage/lineage.ts';
import type { MessageMeta } from '../transcript/message.ts';

/** What `session.create` says. Title and model may be updated, and a deletion leaves nothing that a person wrote. */
export interface SessionProfile {
  readonly principalId: string;
  /** The client's idempotency key for the creation; unique for each principal. */
  readonly requestId: string;
  /** Of the create parameters as they were given. */
  readonly requestDigest: string;
  readonly source: string;
  readonly title: string | null;
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
  readonly cwd: string | null;
  readonly systemPrompt: string | null;
  readonly systemPromptTokens: number;
  readonly toolsets: readonly string[];
  /** What the toolsets stood for when the session was made, as `server`, `server.tool` or `builtin.tool`. */
  readonly tools: readonly string[];
  /** Where the transcript of a fork comes from; null for a session that began empty. */
  readonly forkedFrom: ForkOrigin | null;
  readonly startedAt: string;
}

/** The newest message that a fork took over, by the id that history shows; null: it was cut before the first one. */
export interface ForkOrigin {
  readonly sessionId: string;
  readonly messageId: number | null;
}

export interface Hold {
  readonly reason: string;
  /** When the hold ends by itself, or null when somebody must release it. */
  readonly until: string | null;
  readonly by: string;
  readonly at: string;
}

/**
 * The size of the context as the provider last reported it. It covers every message up to and including
 * `messageId`. It is dropped by a compression, and never taken from a broken answer.
 */
export interface UsageAnchor {
  readonly tokens: number;
  readonly messageId: number;
}

/** A model at an address. */
export interface ModelAddress {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
}

export interface RunningCall {
  readonly callId: string;
  readonly name: string;
  readonly startedAt: string;
}

/**
 * All that the decider needs to know of one session. It is bounded: settled admissions and the content of messages
 * are not part of it.
 */
export interface SessionState {
  readonly sessionId: string;
  /** The sequence number of the newest durable event; gapless from 1. */
  readonly seq: number;
  readonly profile: SessionProfile;
  readonly revision: number;
  /** Left out of lists that don't ask for it; everything else goes on as before. */
  readonly archived: boolean;
  readonly pinned: boolean;
  /** Once it is set, the session has ids, digests and outcomes, and nothing else. */
  readonly deletedAt: string | null;
  readonly executionGeneration: number;
  readonly hold: Hold | null;
  readonly lineage: CompressionLineage;
  /** The active messages of the tip, in transcript order. */
  readonly messages: readonly MessageMeta[];
  /** What the model in `answeredBy` has reported: another one counts differently. */
  readonly usageAnchor: UsageAnchor | null;
  /** The model that gave the newest answer: it could read the transcript as it is. Null before the first one. */
  readonly answeredBy: ModelAddress | null;
  /** The calls of the running or unknown turn whose intent is stored and whose result is not. */
  readonly runningCalls: readonly RunningCall[];
  /** The calls of the running turn that wait for an approval, oldest request first. */
  readonly approvals: readonly Approval[];
  /** Every admission that is not terminal, in queue order. */
  readonly open: readonly Admission[];
}

/** The session's own model. */
export function addressOf({ provider, model, baseUrl }: ModelAddress): ModelAddress {
  return { provider, model, baseUrl };
}

export function isSameModel(a: ModelAddress | null, b: ModelAddress | null): boolean {
  return a?.provider === b?.provider && a?.model === b?.model && a?.baseUrl === b?.baseUrl;
}

/** The admission that runs or whose fate is unknown; at most one exists (P3). */
export function occupant(state: SessionState): Admission | undefined {
  return state.open.find((admission) => admission.status === 'started' || admission.status === 'unknown');
}

export function startedAdmission(state: SessionState): Admission | undefined {
  return state.open.find((admission) => admission.status === 'started');
}

export function queueHead(state: SessionState): Admission | undefined {
  return state.open.find((admission) => admission.status === 'queued' && admission.delivery === 'queue');
}

/** The prompts that wait for the next step of the turn that runs, in the order of their acceptance. */
export function waitingSteers(state: SessionState): readonly Admission[] {
  return state.open.filter(({ status, delivery }) => status === 'queued' && delivery === 'steer');
}

export function queuedCount(state: SessionState): number {
  return state.open.reduce((count, { status }) => (status === 'queued' ? count + 1 : count), 0);
}

/** Why the queue's head doesn't start now, beyond a turn that runs. The names are stable. */
export type Blocker = 'unknown_execution' | 'session_held' | 'compressing' | 'storage';

export function blockersOf(state: SessionState): readonly Blocker[] {
  const blockers: Blocker[] = [];
  if (state.open.some((admission) => admission.status === 'unknown')) blockers.push('unknown_execution');
  if (state.hold !== null) blockers.push('session_held');
  if (state.lineage.open?.trigger === 'manual') blockers.push('compressing');
  return blockers;
}

/** Whether the head of the queue may be claimed now. The claim itself checks the same rule again. */
export function canClaim(state: SessionState): boolean {
  return queueHead(state) !== undefined && occupant(state) === undefined && blockersOf(state).length === 0;
}
