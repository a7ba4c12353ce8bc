import type { StorageError } from '../ports/ledger.ts';

/** Why the process must stop: it can't know what the store holds, it is no longer the owner, or it has a bug. */
export type FatalCause =
  | { readonly kind: 'storage'; readonly error: StorageError }
  | { readonly kind: 'superseded'; readonly epoch: number }
  | { readonly kind: 'bug'; readonly error: unknown };
