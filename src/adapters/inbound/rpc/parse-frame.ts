import type { RpcError, RpcId } from '../../../protocol/json-rpc.ts';
import { rpcError } from './answer.ts';
import { staysWithin } from './json-bounds.ts';

/** One entry of a frame. Without an `id` it is a notification: it is executed and never answered. */
export type IncomingCall =
  | { readonly kind: 'call'; readonly id: RpcId | undefined; readonly method: string; readonly params: unknown }
  | { readonly kind: 'invalid'; readonly id: RpcId; readonly error: RpcError };

export type Frame =
  | { readonly kind: 'single'; readonly call: IncomingCall }
  | { readonly kind: 'batch'; readonly calls: readonly IncomingCall[] };

export interface FrameLimits {
  readonly max_batch: number;
  readonly max_json_depth: number;
  readonly max_json_values: number;
}

/** Reads a frame as JSON-RPC 2.0 (https://www.jsonrpc.org/specification). */
export function parseFrame(text: string, limits: FrameLimits): Frame {
  if (!staysWithin(text, { maxDepth: limits.max_json_depth, maxValues: limits.max_json_values })) {
    const message = `The frame is nested deeper than ${limits.max_json_depth} or holds more than ${limits.max_json_values} values.`;
    return { kind: 'single', call: invalid(null, message) };
  }
  const parsed = parseJson(text);
  if (parsed === undefined)
    return { kind: 'single', call: { kind: 'invalid', id: null, error: rpcError('parse_error') } };
  if (!Array.isArray(parsed.value)) return { kind: 'single', call: readCall(parsed.value) };
  if (parsed.value.length === 0) return { kind: 'single', call: invalid(null, 'A batch must not be empty.') };
  if (parsed.value.length > limits.max_batch) {
    return { kind: 'single', call: invalid(null, `A batch has at most ${limits.max_batch} calls.`) };
  }
  return { kind: 'batch', calls: parsed.value.map(readCall) };
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function readCall(value: unknown): IncomingCall {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalid(null, 'A request must be an object.');
  }
  const request = value as Readonly<Record<string, unknown>>; // an object, of which nothing is believed yet
  const hasId = Object.hasOwn(request, 'id');
  const id = request['id'];
  if (hasId && !isId(id)) return invalid(null, 'An id must be a string, a number or null.');
  const known = hasId && isId(id) ? id : undefined;
  if (request['jsonrpc'] !== '2.0') return invalid(known ?? null, 'jsonrpc must be "2.0".');
  if (typeof request['method'] !== 'string') return invalid(known ?? null, 'method must be a string.');
  const params = Object.hasOwn(request, 'params') ? request['params'] : {};
  if (typeof params !== 'object' || params === null) return invalid(known ?? null, 'params must be an object.');
  return { kind: 'call', id: known, method: request['method'], params };
}

/** `1e400` parses as infinity and has no JSON form to be echoed in. */
function isId(value: unknown): value is RpcId {
  return value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

function invalid(id: RpcId, message: string): IncomingCall {
  return { kind: 'invalid', id, error: rpcError('invalid_request', { message }) };
}
