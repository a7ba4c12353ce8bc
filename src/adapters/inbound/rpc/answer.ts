import { errors } from '../../../protocol/errors.ts';
import type { ErrorData, ErrorReason } from '../../../protocol/errors.ts';
import type { RpcError } from '../../../protocol/json-rpc.ts';

/** What a call comes to. */
export type Answer<R> =
  { readonly kind: 'result'; readonly result: R } | { readonly kind: 'error'; readonly error: RpcError };

export function result<R>(value: R): Answer<R> {
  return { kind: 'result', result: value };
}

export function failed(reason: ErrorReason, details: ErrorDetails = {}): Answer<never> {
  return { kind: 'error', error: rpcError(reason, details) };
}

export interface ErrorDetails extends Partial<Omit<ErrorData, 'reason'>> {
  /** For people; the reason's own sentence where it is left out. */
  readonly message?: string;
}

export function rpcError(reason: ErrorReason, { message, ...details }: ErrorDetails = {}): RpcError {
  const { code, retryable, summary } = errors[reason];
  return { code, message: message ?? summary, data: { reason, retryable, ...details } };
}
