import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/client';
import type { OverlongLine } from './line-splitter.ts';

/**
 * Answers that our transports give in place of one that can't be had. JSON-RPC leaves the numbers outside
 * -32768…-32000 to applications.
 */
export const answerTooLargeCode = -31_999;
export const answerLostCode = -31_998;

/** In place of an answer that exceeds the limit of a message. */
export function answerTooLarge(id: RequestId): JSONRPCErrorResponse {
  return substitute(id, answerTooLargeCode, 'the answer exceeds the limit of a message');
}

/** In place of an answer that the connection was lost before. */
export function answerLost(id: RequestId): JSONRPCErrorResponse {
  return substitute(id, answerLostCode, 'the connection ended before the answer');
}

function substitute(id: RequestId, code: number, message: string): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/**
 * The request that a line answers of which only the ends are known, or null. The patterns are anchored, so that they
 * can't meet a look-alike inside a result: the id is the first member after `jsonrpc`, or the last one of all.
 */
export function idOfOverlongAnswer({ head, tail }: Pick<OverlongLine, 'head' | 'tail'>): number | null {
  if (isRequest.test(head)) return null;
  const id = idAtHead.exec(head) ?? idAtTail.exec(tail);
  return id === null ? null : Number(id[1]);
}

const isRequest = /^\s*\{(?:\s*"(?:jsonrpc|id)"\s*:\s*(?:"[^"]*"|\d+)\s*,)*\s*"method"\s*:/;
const idAtHead = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,/;
const idAtTail = /,\s*"id"\s*:\s*(\d+)\s*\}\s*$/;
