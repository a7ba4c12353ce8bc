/** Time. The core has no other. */
export interface Clock {
  /** The wall clock, ISO 8601 in UTC with milliseconds: for people and records, never for order. */
  now(): string;
  /** A monotonic clock in milliseconds: for durations. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. It never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
