import type { Blow, FaultRates } from '../world/decisions.ts';
import type { Random } from '../world/random.ts';

/** How the gateway and its surroundings are set up for one history. */
export interface Settings {
  readonly sessions: number;
  readonly windowTokens: number;
  readonly outputTokens: number | null;
  readonly windowIsKnown: boolean;
  /** The part of the catalogue's window that the server really takes. */
  readonly serverShare: number;
  /** The window of each session's second model, as a part of that of the first. */
  readonly smallShare: number;
  /** Whether the server says how large its window is when something doesn't fit. */
  readonly statesWindow: boolean;
  readonly compression: boolean;
  readonly threshold: number;
  readonly protectFirstN: number;
  readonly protectLastN: number;
  readonly inPlace: boolean;
  readonly auxiliaryModel: boolean;
  readonly repeatsCallIds: boolean;
  readonly maxSteps: number;
  /** Tries of one request that fails in passing, the first included. */
  readonly maxAttempts: number;
  /** Which calls wait for an approval: none, those on `b.txt`, all, or no call is allowed. */
  readonly approvals: 'none' | 'some' | 'all' | 'never';
  readonly approvalSeconds: number;
  readonly maxOpenApprovals: number;
  readonly onOutage: 'hold' | 'continue';
  readonly maxQueuedPerSession: number;
  readonly maxConcurrentTurns: number;
  readonly maxLostStarts: number;
  readonly maxLoadedSessions: number;
  readonly maxCachedCharacters: number;
  readonly onUnknown: 'hold' | 'discard';
  readonly pageSize: number;
  readonly messageLimit: number;
  /** The most frames that wait for a client before its subscriptions end. */
  readonly backlog: number;
  /** Every named place takes its time, so that a crash can fall on it. */
  readonly failpoints: boolean;
  readonly slowCounter: boolean;
  /** Characters of a prompt, by key modulo the length. */
  readonly promptCharacters: readonly number[];
}

/** A quiet setting: for what a history that was written down before a setting existed does not say. */
export const calmSettings: Settings = {
  sessions: 1,
  windowTokens: 4000,
  outputTokens: null,
  windowIsKnown: true,
  serverShare: 1,
  smallShare: 1,
  statesWindow: false,
  compression: true,
  threshold: 0.8,
  protectFirstN: 1,
  protectLastN: 2,
  inPlace: false,
  auxiliaryModel: false,
  repeatsCallIds: false,
  maxSteps: 4,
  maxAttempts: 1,
  approvals: 'none',
  approvalSeconds: 600,
  maxOpenApprovals: 16,
  onOutage: 'continue',
  maxQueuedPerSession: 20,
  maxConcurrentTurns: 16,
  maxLostStarts: 3,
  maxLoadedSessions: 100,
  maxCachedCharacters: 1_000_000,
  onUnknown: 'hold',
  pageSize: 100,
  messageLimit: 200,
  backlog: 1000,
  failpoints: false,
  slowCounter: false,
  promptCharacters: [20],
};

export function drawSettings(random: Random): Settings {
  return {
    sessions: random.oneOf([1, 1, 2, 3]),
    windowTokens: random.oneOf([300, 500, 900, 4000]),
    outputTokens: random.oneOf([null, 50, 200]),
    windowIsKnown: random.chance(0.8),
    serverShare: random.oneOf([1, 1, 1, 0.6]),
    smallShare: random.oneOf([1, 0.6]),
    statesWindow: random.chance(0.4),
    compression: random.chance(0.9),
    threshold: random.oneOf([0.5, 0.8]),
    protectFirstN: random.oneOf([0, 1, 3]),
    protectLastN: random.oneOf([0, 2, 6]),
    inPlace: random.chance(0.4),
    auxiliaryModel: random.chance(0.3),
    repeatsCallIds: random.chance(0.2),
    maxSteps: random.oneOf([2, 4]),
    maxAttempts: random.oneOf([1, 2, 4]),
    onOutage: random.oneOf(['hold', 'hold', 'continue']),
    maxQueuedPerSession: random.oneOf([2, 4, 20]),
    maxConcurrentTurns: random.oneOf([1, 2, 16]),
    maxLostStarts: random.oneOf([2, 3, 3]),
    maxLoadedSessions: random.oneOf([1, 2, 100]),
    maxCachedCharacters: random.oneOf([0, 500, 1_000_000]),
    onUnknown: random.oneOf(['hold', 'hold', 'hold', 'discard']),
    pageSize: random.oneOf([1, 3, 100]),
    messageLimit: random.oneOf([2, 5, 200]),
    backlog: random.oneOf([3, 12, 1000]),
    failpoints: random.chance(0.3),
    slowCounter: random.chance(0.2),
    approvals: random.oneOf(['none', 'some', 'some', 'all', 'all', 'never']),
    approvalSeconds: random.oneOf([5, 600, 600]),
    maxOpenApprovals: random.oneOf([1, 16, 16]),
    promptCharacters: random.oneOf([[20], [20, 400], [20, 20, 900], [20, 3000, 100]]),
  };
}

/** Each history enables some kinds of faults only: many at once hide each other. */
export function drawRates(random: Random): FaultRates {
  const rate = (probability: number, ...rates: readonly number[]): number =>
    random.chance(probability) ? random.oneOf(rates) : 0;
  const blows: Record<Blow, number> = {
    kill: rate(0.6, 0.003, 0.01, 0.03),
    kill_all: rate(0.2, 0.002, 0.01),
    pause: rate(0.25, 0.003, 0.01),
    wake: 0.01,
    hang_up: rate(0.4, 0.005, 0.02),
    stop: 0.004,
  };
  return {
    blows,
    calm: random.oneOf([0, 0.2, 0.6, 0.9]),
    faults: {
      burst: rate(0.3, 0.1, 0.4),
      lost: 0.7,
      limbo: 0.6,
      sync_fails: rate(0.15, 0.01, 0.05),
      storage_full: rate(0.2, 0.05, 0.2),
      read_fails: rate(0.15, 0.01, 0.04),
      old_owner: rate(0.5, 0.3),
      long: rate(0.6, 0.3, 0.8),
      usage: rate(0.4, 0.5),
      tools: rate(0.5, 0.2, 0.6),
      model: rate(0.5, 0.1, 0.4),
      again: rate(0.3, 0.7, 0.95),
      overflow: rate(0.3, 0.1, 0.3),
      summary: rate(0.4, 0.3, 0.8),
      tool: rate(0.6, 0.3, 0.8),
    },
  };
}
