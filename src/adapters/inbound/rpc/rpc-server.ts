import { protocolName } from '../../../protocol/limits.ts';
import type { Principal, RpcDependencies } from './dependencies.ts';
import { makeDispatch } from './dispatch.ts';
import { EventFrames, eventFrame } from './event-frames.ts';
import type { OpenRpcConnection } from './peer.ts';
import { RpcClientConnection } from './rpc-connection.ts';

/** Serves the protocol to any number of peers, whatever carries the frames. */
export function makeRpcServer(deps: RpcDependencies): OpenRpcConnection {
  const parts = { dispatch: makeDispatch(deps), frames: new EventFrames() };
  return (peer, principal) => {
    peer.reply(readyFrame(deps, principal));
    return new RpcClientConnection(deps, parts, { peer, principal });
  };
}

/** The first frame of every connection. */
function readyFrame(deps: RpcDependencies, principal: Principal): Uint8Array {
  const { version, instanceId, epoch, storeId } = deps.identity();
  return eventFrame({
    type: 'gateway.ready',
    at: deps.clock.now(),
    epoch,
    payload: {
      protocol: protocolName,
      version,
      state: deps.phase(),
      instance_id: instanceId,
      store_id: storeId,
      principal: principal.principalId,
      scopes: [...principal.scopes],
      limits: deps.limits,
    },
  });
}
