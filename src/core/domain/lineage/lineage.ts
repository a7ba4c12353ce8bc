import { addSeconds, isBefore } from '../instant.ts';
import { invariant } from '../invariant.ts';

export type CompressionTrigger = 'preflight' | 'overflow' | 'downshift' | 'manual';

/** A compression that has begun and is neither committed nor given up. At most one exists in a session. */
export interface OpenCompression {
  readonly compressionId: string;
  readonly trigger: CompressionTrigger;
  readonly admissionId: string | null;
  readonly epoch: number;
  readonly startedAt: string;
  /** Of the turn that it belongs to, or its own when it was started by hand. */
  readonly executionGeneration: number;
}

/**
 * Keeps a session from compressing again and again, in vain or too often. It is stored, so that a restart doesn't forget
 * it. One by hand neither asks nor opens it, and closes it when it succeeds.
 */
export interface Breaker {
  /** How often in a row it has opened. */
  readonly failures: number;
  /** No automatic compression starts before this instant; where they came too often, none that can wait. */
  readonly openUntil: string | null;
  /** Why it opened last: a compression failed, or too many came in too few turns. */
  readonly reason: 'failed' | 'frequent' | null;
  /** The generations of the newest automatic compressions, oldest first. */
  readonly recent: readonly number[];
}

/**
 * The chain of a session's transcripts, root to tip.
 *
 * L1: exactly one transcript is open: the tip. L2: the root's id is the session's id for ever. L3: the tip moves only
 * in the append that stores the whole child and closes the parent. L4: only the tip that was planned on is rotated.
 */
export interface CompressionLineage {
  readonly rootId: string;
  readonly tipId: string;
  readonly parentId: string | null;
  /** How many transcripts there are, the tip included. */
  readonly length: number;
  /** How many compressions were committed; with `in_place` it grows while `length` stays. */
  readonly compressions: number;
  readonly open: OpenCompression | null;
  readonly breaker: Breaker;
}

export function newLineage(rootId: string): CompressionLineage {
  return {
    rootId,
    tipId: rootId,
    parentId: null,
    length: 1,
    compressions: 0,
    open: null,
    breaker: closedBreaker,
  };
}

const closedBreaker: Breaker = { failures: 0, openUntil: null, reason: null, recent: [] };

export function closeBreaker(lineage: CompressionLineage): CompressionLineage {
  return { ...lineage, breaker: closedBreaker };
}

export function beginCompression(lineage: CompressionLineage, open: OpenCompression): CompressionLineage {
  invariant(lineage.open === null, 'L: one compression at a time');
  return { ...lineage, open };
}

/** Moves the tip to `childId`, or keeps it (`childId` = the tip) when the compression was made in place. */
export function completeCompression(
  lineage: CompressionLineage,
  done: { compressionId: string; parentId: string; childId: string; at: string },
): CompressionLineage {
  const { open } = lineage;
  invariant(open?.compressionId === done.compressionId, 'L: only the open compression completes');
  invariant(lineage.tipId === done.parentId, 'L4: only the tip is rotated');
  const rotated = done.childId !== done.parentId;
  return {
    ...lineage,
    tipId: done.childId,
    parentId: rotated ? done.parentId : lineage.parentId,
    length: lineage.length + (rotated ? 1 : 0),
    compressions: lineage.compressions + 1,
    open: null,
    breaker: open.trigger === 'manual' ? closedBreaker : breakerAfter(lineage.breaker, open, done.at),
  };
}

export function failCompression(
  lineage: CompressionLineage,
  failed: { compressionId: string; at: string; opensBreaker: boolean },
): CompressionLineage {
  invariant(lineage.open?.compressionId === failed.compressionId, 'L: only the open compression fails');
  const breaker = failed.opensBreaker ? tripBreaker(lineage.breaker, 'failed', failed.at) : lineage.breaker;
  return { ...lineage, open: null, breaker };
}

/** Why no automatic compression is to start now, or null. */
export function openBreaker(lineage: CompressionLineage, now: string): 'failed' | 'frequent' | null {
  const { openUntil, reason } = lineage.breaker;
  return openUntil !== null && isBefore(now, openUntil) ? (reason ?? 'failed') : null;
}

/** So many automatic compressions within as many turns are too many. */
const maxRecent = 3;

/** After a success the breaker is closed, unless it was one too many. */
function breakerAfter(breaker: Breaker, open: OpenCompression, at: string): Breaker {
  const recent = [...breaker.recent, open.executionGeneration].slice(-maxRecent);
  const span = open.executionGeneration - (recent[0] ?? 0);
  const tooMany = recent.length === maxRecent && span < maxRecent;
  return tooMany ? { ...tripBreaker(breaker, 'frequent', at), recent } : { ...closedBreaker, recent };
}

/** How long the breaker stays open the first, the second and every later time in a row, in seconds. */
const breakerSeconds = [60, 300, 900] as const;

function tripBreaker(breaker: Breaker, reason: 'failed' | 'frequent', at: string): Breaker {
  const failures = breaker.failures + 1;
  const seconds = breakerSeconds[Math.min(failures, breakerSeconds.length) - 1] ?? 900;
  return { ...breaker, failures, openUntil: addSeconds(at, seconds), reason };
}
