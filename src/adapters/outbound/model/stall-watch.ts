/*
 * The deadlines of one request.
 *
 * W1: only the time in which we wait for the provider counts. A slow reader on our side stalls nobody.
 * W2: until the first data frame any byte is a sign of life (keep-alive comments, headers), within a limit for the whole
 *     of that wait. After it only data frames count: comments alone don't keep a stream alive.
 * W3: nothing lasts longer than the total, however lively it looks.
 */

export interface StallLimits {
  /** The longest silence until the first data frame. A long prompt is silent while it is read. */
  readonly firstByteTimeoutMs: number;
  /** The longest wait for the first data frame, keep-alives or not. */
  readonly firstDataTimeoutMs: number;
  /** The longest wait between two data frames. */
  readonly idleTimeoutMs: number;
  /** The longest wait after the finish reason for what may follow it (usage, the end mark). */
  readonly tailTimeoutMs: number;
  /** The longest whole. */
  readonly totalTimeoutMs: number;
}

/** The given limits, completed. Keep-alives may stretch the wait for the first data, but not without end. */
export function stallLimits(given: Partial<StallLimits>): StallLimits {
  const firstByteTimeoutMs = given.firstByteTimeoutMs ?? 120_000;
  return {
    firstByteTimeoutMs,
    firstDataTimeoutMs: given.firstDataTimeoutMs ?? 5 * firstByteTimeoutMs,
    idleTimeoutMs: given.idleTimeoutMs ?? 120_000,
    tailTimeoutMs: given.tailTimeoutMs ?? 5_000,
    totalTimeoutMs: given.totalTimeoutMs ?? 1_800_000,
  };
}

export class Stalled extends Error {
  override readonly name = 'Stalled';
}

export interface StallWatch {
  /** Waits for the provider; rejects with `Stalled` when a deadline passes first. */
  wait<T>(work: Promise<T>): Promise<T>;
  sawBytes(): void;
  sawData(): void;
  sawFinishReason(): void;
}

export function makeStallWatch(limits: StallLimits): StallWatch {
  let phase: 'first' | 'streaming' | 'tail' = 'first';
  /** Waited since the last sign of life, since the beginning of the phase's own limit, and in all. */
  let silentMs = 0;
  let totalMs = 0;

  function allowance(): readonly [number, string] {
    const total = [
      limits.totalTimeoutMs - totalMs,
      `it was not finished after ${seconds(limits.totalTimeoutMs)}`,
    ] as const;
    const own = ownAllowance();
    return own[0] <= total[0] ? own : total;
  }

  function ownAllowance(): readonly [number, string] {
    if (phase === 'tail') return [limits.tailTimeoutMs - silentMs, 'its end mark did not come'];
    if (phase === 'streaming')
      return [limits.idleTimeoutMs - silentMs, `no data came for ${seconds(limits.idleTimeoutMs)}`];
    const first = [
      limits.firstByteTimeoutMs - silentMs,
      `nothing came for ${seconds(limits.firstByteTimeoutMs)}`,
    ] as const;
    const data = [
      limits.firstDataTimeoutMs - totalMs,
      `no data came for ${seconds(limits.firstDataTimeoutMs)}`,
    ] as const;
    return first[0] <= data[0] ? first : data;
  }

  return {
    async wait(work) {
      const [leftMs, reason] = allowance();
      const startedAt = performance.now();
      try {
        return await within(work, Math.max(0, leftMs), reason);
      } finally {
        const waitedMs = performance.now() - startedAt;
        silentMs += waitedMs;
        totalMs += waitedMs;
      }
    },
    sawBytes() {
      if (phase === 'first') silentMs = 0;
    },
    sawData() {
      if (phase === 'first') phase = 'streaming';
      silentMs = 0;
    },
    sawFinishReason() {
      phase = 'tail';
    },
  };
}

function within<T>(work: Promise<T>, leftMs: number, reason: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Stalled(reason)), leftMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function seconds(ms: number): string {
  return ms < 1000 ? `${String(ms)} ms` : `${String(Math.round(ms / 1000))} s`;
}
