import { ContainerModule } from 'inversify';
import { makeHttpHandler } from '../adapters/inbound/http/http-handler.ts';
import { makeRpcServer } from '../adapters/inbound/rpc/rpc-server.ts';
import { makeAuthenticate } from '../adapters/inbound/websocket/authenticate.ts';
import { defaultSocketLimits, WebSocketGateway } from '../adapters/inbound/websocket/websocket-gateway.ts';
import type { Config } from '../config/schema.ts';
import { invariant } from '../core/domain/invariant.ts';
import type { ConnectionLimits } from '../protocol/limits.ts';
import { backupPathProblem } from './backup-path.ts';
import { makeListModels } from './list-models.ts';
import { makeListTools } from './list-tools.ts';
import { makeCheckAddress, makeCheckNewSession } from './check-new-session.ts';
import { tokens } from './tokens.ts';

/** Whom the home's own token stands for. */
const localPrincipal = 'local';

/** What clients see: the protocol, and the socket that it is spoken on. */
export const inboundModule = new ContainerModule(({ bind }) => {
  bind(tokens.rpcServer).toResolvedValue(
    (
      configuration,
      instance,
      gateway,
      createSession,
      findCreated,
      submitPrompt,
      steerPrompt,
      respondApproval,
      editPrompt,
      forkSession,
      exportSession,
      ledger,
      subscribe,
      queries,
      hub,
      ids,
      clock,
      logger,
      ownership,
      backups,
      catalog,
      toolHost,
    ) =>
      makeRpcServer({
        sessions: gateway.sessions,
        readSnapshot: gateway.readSnapshot,
        reportContext: gateway.reportContext,
        byHand: gateway.byHand,
        readGatewayStatus: gateway.status,
        backups,
        checkBackupPath: (path) => backupPathProblem(configuration.home, path),
        phase: gateway.phase,
        storage: gateway.storage,
        createSession,
        findCreated,
        submitPrompt,
        steerPrompt,
        respondApproval,
        editPrompt,
        forkSession,
        exportSession,
        readPrompt: async (sessionId, admissionId) => {
          const admission = await ledger.findAdmission(sessionId, { admissionId });
          return admission === null ? undefined : (await ledger.readPayload(admissionId))?.payload;
        },
        subscribe,
        queries,
        hub,
        ids,
        clock,
        logger,
        limits: connectionLimits(configuration.config),
        identity: () => ({
          version: instance.version,
          instanceId: instance.instanceId,
          epoch: ownership.epoch,
          storeId: ownership.storeId,
        }),
        checkNewSession: makeCheckNewSession(configuration),
        listModels: makeListModels(configuration, catalog),
        listTools: makeListTools(configuration.config, toolHost),
        checkAddress: makeCheckAddress(configuration),
      }),
    [
      tokens.configuration,
      tokens.instance,
      tokens.gateway,
      tokens.createSession,
      tokens.findCreated,
      tokens.submitPrompt,
      tokens.steerPrompt,
      tokens.respondApproval,
      tokens.editPrompt,
      tokens.forkSession,
      tokens.exportSession,
      tokens.ledger,
      tokens.subscribe,
      tokens.queries,
      tokens.hub,
      tokens.ids,
      tokens.clock,
      tokens.logger,
      tokens.ownership,
      tokens.backups,
      tokens.catalog,
      tokens.toolHost,
    ],
  );

  bind(tokens.reception).toResolvedValue(
    ({ phase, isServing }, open) => ({ phase, isServing, open }),
    [tokens.gateway, tokens.rpcServer],
  );

  bind(tokens.makeServer).toResolvedValue(
    ({ config: { gateway: settings } }, instance, clock, logger) =>
      (port, reception) =>
        new WebSocketGateway({
          host: settings.host,
          port,
          hosts: settings.allowed_hosts,
          allowedOrigins: settings.allowed_origins,
          authenticate: makeAuthenticate([
            { token: instance.clientToken, principalId: localPrincipal, scopes: ['read', 'write', 'admin'] },
          ]),
          maxFrameBytes: settings.max_frame_bytes,
          maxConnections: settings.max_connections,
          maxEventBacklogBytes: settings.max_backlog_bytes,
          maxBacklogBytes: Math.max(defaultSocketLimits.maxBacklogBytes, 4 * settings.max_backlog_bytes),
          pingIntervalMs: settings.ping_seconds * 1000,
          maxFailuresPerMinute: settings.max_auth_failures_per_minute,
          isOpen: () => reception()?.isServing() === true,
          open: (peer, principal) => {
            const open = reception()?.open;
            invariant(open !== undefined, 'nobody is let in before there is a reception');
            return open(peer, principal);
          },
          onRequest: makeHttpHandler({ phase: () => reception()?.phase() ?? 'starting' }),
          clock,
          logger,
        }),
    [tokens.configuration, tokens.instance, tokens.clock, tokens.logger],
  );
});

function connectionLimits({ gateway }: Config): ConnectionLimits {
  return {
    max_frame_bytes: gateway.max_frame_bytes,
    max_batch: gateway.max_batch,
    max_json_depth: gateway.max_json_depth,
    max_json_values: gateway.max_json_values,
    max_in_flight: gateway.max_calls_in_flight,
    max_subscriptions: gateway.max_subscriptions,
    calls_per_second: gateway.max_calls_per_second,
    call_burst: gateway.max_call_burst,
    ping_interval_ms: gateway.ping_seconds * 1000,
  };
}
