import type { Backups } from '../core/ports/backups.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { Digest } from '../core/ports/digest.ts';
import type { EventHub } from '../core/ports/event-hub.ts';
import type { Failpoints } from '../core/ports/failpoints.ts';
import type { IdSource } from '../core/ports/id-source.ts';
import type { Ledger, Ownership } from '../core/ports/ledger.ts';
import type { Logger } from '../core/ports/logger.ts';
import type { ModelCatalog } from '../core/ports/model-catalog.ts';
import type { ModelProvider } from '../core/ports/model-provider.ts';
import type { SessionQueries } from '../core/ports/session-queries.ts';
import type { CreateSession, FindCreated } from '../core/use-cases/create-session.ts';
import type { EditPrompt } from '../core/use-cases/edit-prompt.ts';
import type { ExportSession } from '../core/use-cases/export-session.ts';
import type { ForkSession } from '../core/use-cases/fork-session.ts';
import type { Gateway } from '../core/use-cases/gateway.ts';
import type { GatewayPhase } from '../core/use-cases/gateway-status.ts';
import type { RespondApproval } from '../core/use-cases/respond-approval.ts';
import type { FatalCause } from '../core/use-cases/fatal-cause.ts';
import type { SteerPrompt } from '../core/use-cases/steer-prompt.ts';
import type { SubmitPrompt } from '../core/use-cases/submit-prompt.ts';
import type { Subscribe } from '../core/use-cases/subscribe.ts';
import type { Configuration } from '../config/configuration.ts';
import type { WebSocketGateway } from '../adapters/inbound/websocket/websocket-gateway.ts';
import type { OpenRpcConnection } from '../adapters/inbound/rpc/peer.ts';
import type { ToolHost } from '../core/ports/tool-host.ts';
import type { WorkerTokenCounter } from '../adapters/outbound/tokens/worker-token-counter.ts';
import { token } from './token.ts';

/** Who this process is. */
export interface Instance {
  readonly instanceId: string;
  readonly version: string;
  readonly clientToken: string;
  readonly onFatal: (cause: FatalCause) => void;
  /** Takes the secrets that this process holds out of a text. */
  readonly mask: (text: string) => string;
}

/** Who stands behind the listening socket. */
export interface Reception {
  readonly phase: () => GatewayPhase;
  readonly isServing: () => boolean;
  readonly open: OpenRpcConnection;
}

/** Makes the listening socket for a port; 0 takes a free one. Until there is a reception, clients are told to wait. */
type MakeServer = (port: number, reception: () => Reception | null) => WebSocketGateway;

/** Everything that the container knows. What takes time to open is bound as a value once it is open. */
export const tokens = {
  configuration: token<Configuration>('Configuration'),
  instance: token<Instance>('Instance'),
  ledger: token<Ledger>('Ledger'),
  queries: token<SessionQueries>('SessionQueries'),
  backups: token<Backups>('Backups'),
  ownership: token<Ownership>('Ownership'),
  logger: token<Logger>('Logger'),
  failpoints: token<Failpoints>('Failpoints'),
  clock: token<Clock>('Clock'),
  ids: token<IdSource>('IdSource'),
  digest: token<Digest>('Digest'),
  hub: token<EventHub>('EventHub'),
  provider: token<ModelProvider>('ModelProvider'),
  catalog: token<ModelCatalog>('ModelCatalog'),
  tokenCounter: token<WorkerTokenCounter>('TokenCounter'),
  toolHost: token<ToolHost>('ToolHost'),
  gateway: token<Gateway>('Gateway'),
  createSession: token<CreateSession>('CreateSession'),
  findCreated: token<FindCreated>('FindCreated'),
  forkSession: token<ForkSession>('ForkSession'),
  exportSession: token<ExportSession>('ExportSession'),
  editPrompt: token<EditPrompt>('EditPrompt'),
  submitPrompt: token<SubmitPrompt>('SubmitPrompt'),
  steerPrompt: token<SteerPrompt>('SteerPrompt'),
  respondApproval: token<RespondApproval>('RespondApproval'),
  subscribe: token<Subscribe>('Subscribe'),
  rpcServer: token<OpenRpcConnection>('OpenRpcConnection'),
  reception: token<Reception>('Reception'),
  makeServer: token<MakeServer>('makeServer'),
} as const;
