import type { CompressionPolicy } from '../domain/compression/trigger.ts';
import type { RetryPolicy } from '../domain/model/retry.ts';
import type { Clock } from '../ports/clock.ts';
import type { Digest } from '../ports/digest.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Logger } from '../ports/logger.ts';
import type { ModelCatalog } from '../ports/model-catalog.ts';
import type { ModelProvider, ModelTarget } from '../ports/model-provider.ts';
import type { TokenCounter } from '../ports/token-counter.ts';
import type { ToolHost } from '../ports/tool-host.ts';
import type { Approvals } from './approval-desk.ts';
import type { Compress } from './compressor.ts';
import type { RunningTurn } from './gateway-status.ts';
import type { AcceptedInputs, LearnWindow } from './learnt-windows.ts';
import type { StepListener } from './model-step.ts';
import type { Sessions } from './sessions.ts';
import type { ApprovalRules, CallLimits } from './tool-step.ts';
import type { Transcripts } from './transcripts.ts';

export interface TurnDependencies {
  readonly sessions: Sessions;
  readonly ledger: Pick<Ledger, 'readPayload'>;
  readonly transcripts: Transcripts;
  readonly provider: ModelProvider;
  readonly catalog: ModelCatalog;
  readonly tokens: TokenCounter;
  readonly tools: ToolHost;
  readonly digest: Digest;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
  readonly compress: Compress;
  readonly ids: IdSource;
  readonly approvals: Approvals;
  readonly approvalRules: ApprovalRules;
  readonly callLimits: CallLimits;
  readonly learnWindow: LearnWindow;
  readonly accepted: Pick<AcceptedInputs, 'saw'>;
  readonly policy: CompressionPolicy;
  /** The configured cap on the output of one answer; null leaves it to the provider. */
  readonly maxOutputTokens: number | null;
  /** How often a request that failed in passing is tried again. */
  readonly retry: RetryPolicy;
  /** A random number from 0 to 1, so that many waiting turns don't come back at once. */
  readonly jitter: () => number;
  /** What a failure that is not the prompt's own does to the prompts behind it. */
  readonly onOutage: 'hold' | 'continue';
  /** The models that are asked when one can't answer, in this order. */
  readonly fallbacksOf: (target: ModelTarget) => readonly ModelTarget[];
  readonly logger: Pick<Logger, 'warn'>;
  /** The most steps of one turn. */
  readonly maxSteps: number;
}

/** How the turn tells what it does while it does it. */
export interface TurnProgress {
  /** Aborts when nobody waits any more for what the turn looks up before its claim: that will be refused. */
  readonly lookup: AbortSignal;
  /** What aborts when the turn is told to stop: before its claim `lookup`, then the signal of a durable request. */
  readonly stopped: AbortSignal;
  claimed(executionGeneration: number): void;
  activity(activity: RunningTurn['activity'], step: number): void;
  listener(step: number): StepListener;
}
