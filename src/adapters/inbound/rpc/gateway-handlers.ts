import { openRpcDocument } from '../../../protocol/open-rpc.ts';
import { result } from './answer.ts';
import type { RpcDependencies } from './dependencies.ts';
import type { Handlers } from './handler.ts';
import { statusToWire } from './status-to-wire.ts';

/** The gateway itself. */
export function makeGatewayHandlers(deps: RpcDependencies): Pick<Handlers, 'gateway.status' | 'ping' | 'rpc.discover'> {
  let document: ReturnType<typeof openRpcDocument> | undefined;
  return {
    'gateway.status': async () => result(statusToWire(await deps.readGatewayStatus(), deps.identity().version)),

    ping: async () => result({ at: deps.clock.now() }),

    'rpc.discover': async () => {
      document ??= openRpcDocument();
      return result({ ...document });
    },
  };
}
