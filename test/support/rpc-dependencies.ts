import { CountingIds } from '../../src/adapters/outbound/memory/counting-ids.ts';
import type { RpcDependencies } from '../../src/adapters/inbound/rpc/dependencies.ts';
import { makeRespondApproval } from '../../src/core/use-cases/respond-approval.ts';
import { makeExportSession } from '../../src/core/use-cases/export-session.ts';
import { makeSubscribe } from '../../src/core/use-cases/subscribe.ts';
import { defaultConnectionLimits } from '../../src/protocol/limits.ts';
import type { MemoryGateway } from './memory-gateway.ts';

/** What the methods of the protocol are made of, with the real core on memory adapters behind them. */
export function rpcDependencies(core: MemoryGateway, overrides: Partial<RpcDependencies> = {}): RpcDependencies {
  return {
    sessions: core.sessions,
    createSession: core.createSession,
    findCreated: core.findCreated,
    submitPrompt: core.submitPrompt,
    steerPrompt: core.steerPrompt,
    respondApproval: makeRespondApproval({ sessions: core.sessions, queries: core.queries }),
    editPrompt: core.editPrompt,
    forkSession: core.forkSession,
    exportSession: makeExportSession({
      queries: core.queries,
      maskSecrets: (text) => text.replaceAll('hunter2!', '…'),
    }),
    readPrompt: async (sessionId, admissionId) => {
      const admission = await core.ledger.findAdmission(sessionId, { admissionId });
      return admission === null ? undefined : core.store.payload(admissionId)?.payload;
    },
    readSnapshot: core.gateway.readSnapshot,
    reportContext: core.gateway.reportContext,
    byHand: core.gateway.byHand,
    readGatewayStatus: core.gateway.status,
    backups: { backUp: async () => ({ kind: 'failed', reason: 'There is nothing to copy.' }) },
    checkBackupPath: () => null,
    phase: () => core.gateway.phase(),
    storage: () => core.gateway.storage(),
    subscribe: makeSubscribe({
      hub: core.hub,
      queries: core.queries,
      pageSize: 50,
      onError: (error) => {
        core.logger.error('a subscription could not read the log', { error });
      },
    }),
    queries: core.queries,
    hub: core.hub,
    ids: new CountingIds('rpc'),
    clock: core.clock,
    logger: core.logger,
    limits: defaultConnectionLimits,
    identity: () => ({ version: '1.2.3', instanceId: 'instance-1', epoch: 1, storeId: 'store-1' }),
    checkNewSession: () => [],
    listTools: async () => ({ unknown: [], tools: [], servers: [] }),
    listModels: () => ({ providers: [], models: [] }),
    checkAddress: (_provider, baseUrl) => ({ problems: [], baseUrl, isStandard: false }),
    ...overrides,
  };
}
