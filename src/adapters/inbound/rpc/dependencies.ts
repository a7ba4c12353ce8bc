import type { PromptPayload } from '../../../core/domain/admission/admission.ts';
import type { CompressionDesk } from '../../../core/use-cases/compress-by-hand.ts';
import type { ReportContext } from '../../../core/use-cases/context-report.ts';
import type { CreateSession, CreateSessionInput, FindCreated } from '../../../core/use-cases/create-session.ts';
import type { EditPrompt } from '../../../core/use-cases/edit-prompt.ts';
import type { ExportSession } from '../../../core/use-cases/export-session.ts';
import type { ForkSession } from '../../../core/use-cases/fork-session.ts';
import type { ReadGatewayStatus } from '../../../core/use-cases/gateway-status.ts';
import type { RespondApproval } from '../../../core/use-cases/respond-approval.ts';
import type { ReadSnapshot } from '../../../core/use-cases/resume-session.ts';
import type { SteerPrompt } from '../../../core/use-cases/steer-prompt.ts';
import type { Sessions } from '../../../core/use-cases/sessions.ts';
import type { SubmitPrompt } from '../../../core/use-cases/submit-prompt.ts';
import type { Subscribe } from '../../../core/use-cases/subscribe.ts';
import type { Backups } from '../../../core/ports/backups.ts';
import type { Clock } from '../../../core/ports/clock.ts';
import type { EventHub } from '../../../core/ports/event-hub.ts';
import type { IdSource } from '../../../core/ports/id-source.ts';
import type { Logger } from '../../../core/ports/logger.ts';
import type { ModelLimits } from '../../../core/ports/model-catalog.ts';
import type { ModelTarget } from '../../../core/ports/model-provider.ts';
import type { SessionQueries } from '../../../core/ports/session-queries.ts';
import type { GatewayPhase, StorageHealth } from '../../../core/use-cases/gateway-status.ts';
import type { ToolDescriptor, ToolServerHealth } from '../../../core/ports/tool-host.ts';
import type { FieldProblem } from '../../../protocol/field-problems.ts';
import type { ConnectionLimits } from '../../../protocol/limits.ts';
import type { Scope } from '../../../protocol/method.ts';

/** Everything that the methods of the protocol are made of. The composition root provides it. */
export interface RpcDependencies {
  readonly sessions: Sessions;
  readonly createSession: CreateSession;
  readonly findCreated: FindCreated;
  readonly submitPrompt: SubmitPrompt;
  readonly steerPrompt: SteerPrompt;
  readonly respondApproval: RespondApproval;
  readonly editPrompt: EditPrompt;
  readonly forkSession: ForkSession;
  readonly exportSession: ExportSession;
  /** The content of a prompt of the session, or undefined when there is none. */
  readonly readPrompt: (sessionId: string, admissionId: string) => Promise<PromptPayload | undefined>;
  readonly readSnapshot: ReadSnapshot;
  readonly reportContext: ReportContext;
  readonly byHand: Pick<CompressionDesk, 'compress' | 'preview'>;
  readonly subscribe: Subscribe;
  readonly queries: SessionQueries;
  readonly readGatewayStatus: ReadGatewayStatus;
  readonly backups: Backups;
  /** Why no backup may be written to a path, in a sentence; null when one may. */
  readonly checkBackupPath: (path: string) => string | null;
  readonly hub: EventHub;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: ConnectionLimits;
  /** Who this gateway is. Called only while clients are served, so only after the store is owned. */
  readonly identity: () => GatewayIdentity;
  readonly phase: () => GatewayPhase;
  readonly storage: () => StorageHealth;
  /**
   * What the configuration forbids about a new session: an unknown provider, an address that no key is configured for,
   * an unknown toolset. The paths are those of `session.create`.
   */
  readonly checkNewSession: (input: CreateSessionInput) => readonly FieldProblem[];
  /** The same for the provider and the address that a session is to use from now on. */
  readonly checkAddress: (provider: string, baseUrl: string | null) => CheckedAddress;
  readonly listModels: () => ModelListing;
  /** Without toolsets: those of every configured one. `tools` is the selection of a session that has its own. */
  readonly listTools: (
    of: { readonly toolsets: readonly string[] | null; readonly tools: readonly string[] | null },
    signal: AbortSignal,
  ) => Promise<ToolsListing>;
}

interface ToolsListing {
  /** Toolsets that are not configured: nothing is known of them. */
  readonly unknown: readonly string[];
  /** In the order of their names, each with the toolsets in which it is. */
  readonly tools: readonly { readonly tool: ToolDescriptor; readonly toolsets: readonly string[] }[];
  readonly servers: readonly ToolServerHealth[];
}

/** The providers that are configured, and the models that the configuration names. */
export interface ModelListing {
  readonly providers: readonly {
    readonly provider: string;
    readonly kind: string;
    readonly baseUrl: string | null;
    readonly hasKey: boolean;
  }[];
  readonly models: readonly {
    readonly target: ModelTarget;
    readonly limits: ModelLimits;
    readonly isDefault: boolean;
    readonly fallbacks: readonly ModelTarget[];
  }[];
}

export interface CheckedAddress {
  readonly problems: readonly FieldProblem[];
  /** As the configuration writes it. */
  readonly baseUrl: string | null;
  /** Whether it is where the provider is asked when nobody names an address. */
  readonly isStandard: boolean;
}

export interface GatewayIdentity {
  readonly version: string;
  readonly instanceId: string;
  readonly epoch: number;
  readonly storeId: string;
}

/** Who calls, as the token says. */
export interface Principal {
  readonly principalId: string;
  readonly scopes: readonly Scope[];
}
