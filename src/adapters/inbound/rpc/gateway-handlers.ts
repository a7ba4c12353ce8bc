import { openRpcDocument } from '../../../protocol/open-rpc.ts';
import { failed, result } from './answer.ts';
import type { RpcDependencies } from './dependencies.ts';
import type { Handlers } from './handler.ts';
import { statusToWire } from './status-to-wire.ts';

type GatewayHandlers = Pick<Handlers, 'gateway.status' | 'gateway.backup' | 'ping' | 'rpc.discover'>;

/** The gateway itself. */
export function makeGatewayHandlers(deps: RpcDependencies): GatewayHandlers {
  let document: ReturnType<typeof openRpcDocument> | undefined;
  return {
    'gateway.status': async () => result(statusToWire(await deps.readGatewayStatus(), deps.identity().version)),

    'gateway.backup': async ({ path }) => {
      const problem = deps.checkBackupPath(path);
      if (problem !== null) return failed('invalid_params', { fields: [{ path: 'path', message: problem }] });
      const outcome = await deps.backups.backUp(path);
      if (outcome.kind === 'failed') return failed('backup_failed', { message: outcome.reason });
      const { bytes, storeId, epoch, commits } = outcome.backup;
      return result({ path: outcome.backup.path, bytes, store_id: storeId, epoch, commits });
    },

    ping: async () => result({ at: deps.clock.now() }),

    'rpc.discover': async () => {
      document ??= openRpcDocument();
      return result({ ...document });
    },
  };
}
