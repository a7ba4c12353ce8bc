import { readFileSync } from 'node:fs';
import { danglingLink, isDanglingLink, unreadable } from './unreadable.ts';

export type ReadText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** A text file of the home folder that need not be there. A link to nothing was meant to be one that is. */
export function readText(file: string): ReadText {
  try {
    // Bytes that are no UTF-8 must not become something else in silence.
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return isDanglingLink(file) ? { kind: 'unreadable', reason: danglingLink } : { kind: 'absent' };
    }
    return { kind: 'unreadable', reason: unreadable(error) };
  }
}
