import type { WebSocketGateway } from '../adapters/inbound/websocket/websocket-gateway.ts';
import type { Configuration } from '../config/configuration.ts';
import { readLastPort, rememberPort } from '../config/last-port.ts';
import type { Logger } from '../core/ports/logger.ts';

export interface Listening {
  readonly server: WebSocketGateway;
  readonly url: string;
}

/** Listens at the configured port; without one at the last one, if it is still free. */
export async function listen(
  { home, config }: Configuration,
  makeServer: (port: number) => WebSocketGateway,
  logger: Logger,
): Promise<Listening> {
  const { host, port: configured } = config.gateway;
  const last = configured === 0 ? readLastPort(home) : null;
  if (last !== null) {
    const server = makeServer(last);
    const bound = await server.start().catch(() => null); // somebody else has it now
    if (bound !== null) return { server, url: bound.url };
  }
  const server = makeServer(configured);
  const { port, url } = await server.start().catch((error: unknown) => {
    throw new ListenError(host, configured, error);
  });
  if (configured === 0) remember(home, port, logger);
  return { server, url };
}

/** It is a convenience: a gateway serves as well when it can't be kept. */
function remember(home: string, port: number, logger: Logger): void {
  try {
    rememberPort(home, port);
  } catch (error) {
    logger.warn('the port could not be noted for the next start', { error });
  }
}

/** The address can't be listened at. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  constructor(host: string, port: number, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`The gateway can't listen at ${host}:${String(port)}: ${reason}`, { cause });
  }
}
