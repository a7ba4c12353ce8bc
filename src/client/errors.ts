import type { ErrorData, ErrorReason } from '../protocol/errors.ts';
import type { RpcError } from '../protocol/json-rpc.ts';

/** The gateway refused a call. Branch on `reason`; the message is for people. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: number;
  readonly data: ErrorData;

  constructor({ code, message, data }: RpcError) {
    super(message);
    this.code = code;
    this.data = data;
  }

  get reason(): ErrorReason {
    return this.data.reason;
  }

  get retryable(): boolean {
    return this.data.retryable;
  }
}

/**
 * Why a call did not get through, or whether it did is unknown.
 *
 * `closed`: this client was closed. `unreachable`: nobody listens there. `refused`: the gateway lets this client not in,
 * and trying again is useless. `busy`: not now. `timed_out`: no answer in time; the call may have taken effect.
 * `frame_too_large`: the call is larger than the gateway takes, so it was not sent, and is not sent again.
 * `not_a_gateway`: whoever answers there speaks something else.
 * `another_gateway`: the instance that was looked for isn't there any more, and another one has its address.
 */
export type ConnectionErrorKind =
  'closed' | 'unreachable' | 'refused' | 'busy' | 'timed_out' | 'frame_too_large' | 'not_a_gateway' | 'another_gateway';

export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly kind: ConnectionErrorKind;
  /** The HTTP status, where the gateway answered with one. */
  readonly status: number | undefined;

  constructor(
    kind: ConnectionErrorKind,
    message: string,
    options: { readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.status = options.status;
  }

  /** Whether connecting again is useless. */
  get isFinal(): boolean {
    return this.kind === 'refused' || this.kind === 'not_a_gateway' || this.kind === 'closed';
  }
}
