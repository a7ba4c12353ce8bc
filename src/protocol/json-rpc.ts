import type { ErrorData } from './errors.ts';

/** Echoed with the type that it came with. Null is an id like another; only a missing id makes a notification. */
export type RpcId = string | number | null;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: ErrorData;
}

export type RpcResponse =
  | { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly result: unknown }
  | { readonly jsonrpc: '2.0'; readonly id: RpcId; readonly error: RpcError };

/** The only notification that a server sends. Its `params` are the event. */
export const eventMethod = 'event';
