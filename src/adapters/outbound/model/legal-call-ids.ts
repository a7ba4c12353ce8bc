import { createHash } from 'node:crypto';

/**
 * Ids of tool calls as a vendor takes them. An id that is legal stays as it is; another one is replaced by one that is
 * made of it, so that a call and its result still agree, in this request and in every later one.
 */
export function makeLegalCallIds(legal: RegExp): (id: string) => string {
  return (id) => (legal.test(id) ? id : madeOf(id));
}

/** Nine letters and digits: the one form that every vendor takes. */
function madeOf(id: string): string {
  const number = BigInt(`0x${createHash('sha256').update(id).digest('hex').slice(0, 16)}`);
  return number.toString(36).padStart(9, '0').slice(-9);
}

/**
 * The name of a called tool as every vendor takes it. A model may have called what is no tool and no name; the call stays in
 * the transcript, and one bad name would make every later request refusable.
 */
export function legalToolName(name: string): string {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(name) ? name : `_${name.replace(/[^a-zA-Z0-9_-]/g, '_')}`.slice(0, 64);
}
