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
}

/** Keeps a session from compressing in vain again and again. It is stored, so that a restart doesn't forget it. */
export interface Breaker {
  /** Failures since the last success. */
  readonly failures: number;
  /** No automatic compression starts before this instant. */
  readonly openUntil: string | null;
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

export const closedBreaker: Breaker = { failures: 0, openUntil: null };

export function beginCompression(lineage: CompressionLineage, open: OpenCompression): CompressionLineage {
  invariant(lineage.open === null, 'L: one compression at a time');
  return { ...lineage, open };
}

/** Moves the tip to `childId`, or keeps it (`childId` = the tip) when the compression was made in place. */
export function completeCompression(
  lineage: CompressionLineage,
  done: { compressionId: string; parentId: string; childId: string },
): CompressionLineage {
  invariant(lineage.open?.compressionId === done.compressionId, 'L: only the open compression completes');
  invariant(lineage.tipId === done.parentId, 'L4: only the tip is rotated');
  const rotated = done.childId !== done.parentId;
  return {
    ...lineage,
    tipId: done.childId,
    parentId: rotated ? done.parentId : lineage.parentId,
    length: lineage.length + (rotated ? 1 : 0),
    compressions: lineage.compressions + 1,
    open: null,
    breaker: closedBreaker,
  };
}

export function failCompression(
  lineage: CompressionLineage,
  failed: { compressionId: string; at: string; opensBreaker: boolean },
): CompressionLineage {
  invariant(lineage.open?.compressionId === failed.compressionId, 'L: only the open compression fails');
  const breaker = failed.opensBreaker ? tripBreaker(lineage.breaker, failed.at) : lineage.breaker;
  return { ...lineage, open: null, breaker };
}

export function breakerIsOpen(lineage: CompressionLineage, now: string): boolean {
  const until = lineage.breaker.openUntil;
  return until !== null && isBefore(now, until);
}

/** How long the breaker stays open after the first, the second and every later failure in a row, in seconds. */
const breakerSeconds = [60, 300, 900] as const;

function tripBreaker(breaker: Breaker, at: string): Breaker {
  const failures = breaker.failures + 1;
  const seconds = breakerSeconds[Math.min(failures, breakerSeconds.length) - 1] ?? 900;
  return { failures, openUntil: addSeconds(at, seconds) };
}
