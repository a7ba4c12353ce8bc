import { connect, type FollowedSession, type GatewayClient } from '../client/gateway-client.ts';
import { ConnectionError, GatewayError } from '../client/errors.ts';
import { exitCodes } from '../config/exit-codes.ts';
import type { Environment } from '../config/environment.ts';
import type { MethodName, ParamsOf, ResultOf } from '../protocol/registry.ts';
import { CliFailure } from './failure.ts';
import { explainSilence, findGateway, isGone, type AddressOptions, type GatewayAddress } from './gateway-address.ts';

/** A connection as the commands use it. Whatever goes wrong is a `CliFailure`; a refusal has the protocol's reason. */
export interface GatewayConnection {
  /** A call that the connection's loss left unanswered fails with reason `connection_lost`: it may have taken effect. */
  call<N extends MethodName>(
    method: N,
    params: ParamsOf<N>,
    options?: { readonly timeoutMs?: number },
  ): Promise<ResultOf<N>>;
  /** A session's snapshot, and its events from there on, also across reconnects. */
  follow(params: ParamsOf<'session.resume'>): Promise<FollowedSession<'session.resume'>>;
  close(): void;
}

export interface ConnectOptions {
  /** How long a gateway that was lost is looked for. Calls that were not answered are then sent again: each takes effect once. */
  readonly reconnectMs?: number;
  /** Told each time when the connection is lost and looked for again. */
  readonly onLost?: () => void;
}

/** A gateway that is just starting is waited for; any other silence is told at once. */
const longestStartMs = 10_000;

export async function connectTo(
  address: AddressOptions,
  environment: Environment,
  { reconnectMs = 0, onLost = () => undefined }: ConnectOptions,
): Promise<GatewayConnection> {
  let found = findGateway(address, environment);
  const locate = (): GatewayAddress => (found = findGateway(address, environment));
  let deadline: NodeJS.Timeout | undefined;
  const giveUp = (): void => client?.close();
  const client: GatewayClient | undefined = await patiently(locate, (endpoint) =>
    connect({
      ...endpoint,
      requestTimeoutMs: 30_000 + reconnectMs,
      locate: async () => locate(),
      onState: (state) => {
        clearTimeout(deadline);
        if (state !== 'reconnecting') return;
        if (reconnectMs > 0) onLost();
        deadline = setTimeout(giveUp, reconnectMs);
      },
    }),
  ).catch((error: unknown) => {
    throw notConnected(error, found);
  });
  const translated = async <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      throw asFailure(error, found);
    });
  return {
    call: (method, params, options) => translated(client.call(method, params, options)),
    follow: (params) => translated(client.resume(params)),
    close: () => client.close(),
  };
}

async function patiently(
  locate: () => GatewayAddress,
  attempt: (endpoint: GatewayAddress) => Promise<GatewayClient>,
): Promise<GatewayClient> {
  const untilMs = performance.now() + longestStartMs;
  for (;;) {
    const endpoint = locate();
    try {
      return await attempt(endpoint);
    } catch (error) {
      if (!(error instanceof ConnectionError) || performance.now() > untilMs) throw error;
      // A gateway that was started again meanwhile has written its file before it lets anybody in.
      const isNamedAnew = error.kind === 'another_gateway' && locate().instanceId !== endpoint.instanceId;
      if (error.status !== 503 && !isNamedAnew) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function notConnected(error: unknown, found: GatewayAddress): unknown {
  if (!(error instanceof ConnectionError)) return error;
  if (error.kind !== 'refused' || isGone(found)) return explainSilence(found, error.message);
  const message = `The gateway at ${found.url} refused the connection: ${error.message}`;
  return new CliFailure(exitCodes.refused, 'unauthorized', message, { details: { retryable: false }, cause: error });
}

function asFailure(error: unknown, found: GatewayAddress): unknown {
  if (error instanceof GatewayError) {
    const fields = (error.data.fields ?? []).map(({ path, message }) => `\n  ${path}: ${message}`);
    const message = `${error.message}${fields.join('')}`;
    return new CliFailure(exitCodes.refused, error.reason, message, { details: { ...error.data }, cause: error });
  }
  if (!(error instanceof ConnectionError)) return error;
  if (error.kind === 'frame_too_large') {
    const details = { retryable: false };
    return new CliFailure(exitCodes.refused, 'payload_too_large', error.message, { details, cause: error });
  }
  const silence = explainSilence(found, error.kind === 'timed_out' ? error.message : 'the connection was lost');
  return new CliFailure(exitCodes.unreachable, 'connection_lost', silence.message, {
    details: { retryable: true },
    cause: error,
  });
}
