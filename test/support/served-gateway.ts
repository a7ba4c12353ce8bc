import { makeHttpHandler } from '../../src/adapters/inbound/http/http-handler.ts';
import type { RpcDependencies } from '../../src/adapters/inbound/rpc/dependencies.ts';
import { makeRpcServer } from '../../src/adapters/inbound/rpc/rpc-server.ts';
import { makeAuthenticate } from '../../src/adapters/inbound/websocket/authenticate.ts';
import { defaultSocketLimits, WebSocketGateway } from '../../src/adapters/inbound/websocket/websocket-gateway.ts';
import type { WebSocketGatewayOptions } from '../../src/adapters/inbound/websocket/websocket-gateway.ts';
import { SystemClock } from '../../src/adapters/outbound/system/system-clock.ts';
import { MemoryGateway } from './memory-gateway.ts';
import type { MemoryGatewayOptions } from './memory-gateway.ts';
import { rpcDependencies } from './rpc-dependencies.ts';

export const aToken = 'a-token-that-is-right';

export interface ServedOptions {
  readonly core?: MemoryGatewayOptions;
  readonly rpc?: Partial<RpcDependencies>;
  readonly socket?: Partial<WebSocketGatewayOptions>;
}

/** The whole gateway but for the disk: the core on memory adapters, and real sockets on the loopback address. */
export interface ServedGateway {
  readonly core: MemoryGateway;
  readonly server: WebSocketGateway;
  readonly port: number;
  readonly url: string;
}

export async function serveGateway(options: ServedOptions = {}): Promise<ServedGateway> {
  const core = await MemoryGateway.started(options.core);
  const deps = rpcDependencies(core, options.rpc);
  const server = new WebSocketGateway({
    ...defaultSocketLimits,
    host: '127.0.0.1',
    port: 0,
    hosts: [],
    allowedOrigins: [],
    authenticate: makeAuthenticate([{ token: aToken, principalId: 'local', scopes: ['read', 'write'] }]),
    maxFrameBytes: deps.limits.max_frame_bytes,
    pingIntervalMs: deps.limits.ping_interval_ms,
    isOpen: () => core.gateway.isServing(),
    open: makeRpcServer(deps),
    onRequest: makeHttpHandler({ phase: () => core.gateway.phase() }),
    clock: new SystemClock(),
    logger: core.logger,
    ...options.socket,
  });
  return { core, server, ...(await server.start()) };
}
