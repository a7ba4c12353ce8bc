import type { ModelTarget } from '../ports/model-provider.ts';
import type { ToolServerHealth } from '../ports/tool-host.ts';
import type { Admission } from '../domain/admission/admission.ts';
import type { HeldQueue, OpenBreaker, StoreCounts } from '../ports/session-queries.ts';

export type GatewayPhase = 'starting' | 'ready' | 'draining';

/** `retrying`: it is full or busy, and the work of turns waits until it takes something again. */
export type StorageHealth = 'ok' | 'retrying' | 'failed';

export interface RunningTurn {
  readonly sessionId: string;
  readonly admissionId: string;
  readonly executionGeneration: number;
  readonly step: number;
  readonly startedAt: string;
  /** What the turn waits for at the moment. */
  readonly activity: 'starting' | 'compressing' | 'model' | 'tools' | 'settling';
}

/** How the gateway is, for an operator. It names no prompt and no secret. */
export interface GatewayStatus {
  readonly phase: GatewayPhase;
  readonly instanceId: string;
  readonly epoch: number;
  readonly storeId: string;
  readonly startedAt: string;
  readonly uptimeMs: number;
  readonly defaultTarget: ModelTarget;
  readonly running: readonly RunningTurn[];
  /** Sessions whose queue could run but waits for a free place. */
  readonly waitingSessions: number;
  readonly maxConcurrentTurns: number;
  readonly storage: StorageHealth;
  readonly tools: readonly ToolServerHealth[];
  readonly counts: StoreCounts;
  /** Sessions that don't compress by themselves for a while. */
  readonly breakers: readonly OpenBreaker[];
  /** Sessions whose prompts wait until their hold ends. */
  readonly held: readonly HeldQueue[];
  /** The oldest admissions that wait for somebody's decision. */
  readonly unknown: readonly Admission[];
}

export type ReadGatewayStatus = () => Promise<GatewayStatus>;
