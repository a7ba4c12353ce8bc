import type { RpcResponse } from '../../../protocol/json-rpc.ts';
import { rpcError } from './answer.ts';

/** The most that one frame of answers may weigh. */
const maxAnswerBytes = 24 * 1024 * 1024;

export function encodeAnswer(response: RpcResponse): Uint8Array {
  const frame = Buffer.from(JSON.stringify(response));
  return frame.byteLength <= maxAnswerBytes ? frame : Buffer.from(JSON.stringify(tooLarge(response)));
}

/** The answers to a batch. One that would make the frame too large is replaced by an error, and the others still fit. */
export class EncodedAnswers {
  readonly #answers: string[] = [];
  #bytes = 2;

  get count(): number {
    return this.#answers.length;
  }

  add(response: RpcResponse): void {
    const whole = JSON.stringify(response);
    const fits = this.#bytes + Buffer.byteLength(whole) + 1 <= maxAnswerBytes;
    const answer = fits ? whole : JSON.stringify(tooLarge(response));
    this.#answers.push(answer);
    this.#bytes += Buffer.byteLength(answer) + 1;
  }

  frame(): Uint8Array {
    return Buffer.from(`[${this.#answers.join(',')}]`);
  }
}

function tooLarge({ id }: RpcResponse): RpcResponse {
  const message = 'The call was carried out, but its answer is too large: ask for less.';
  return { jsonrpc: '2.0', id, error: rpcError('payload_too_large', { message }) };
}
