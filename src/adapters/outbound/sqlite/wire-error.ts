import { StorageError } from '../../../core/ports/ledger.ts';
import { StoreOpenError } from './store-open-error.ts';
import type { StoreOpenErrorKind } from './store-open-error.ts';

/** An error as it crosses the border between threads, where objects lose their class. */
export type WireError =
  | { readonly type: 'storage'; readonly kind: StorageError['kind']; readonly message: string }
  | { readonly type: 'open'; readonly kind: StoreOpenErrorKind; readonly message: string }
  | { readonly type: 'other'; readonly message: string; readonly stack: string | undefined };

export function toWireError(error: unknown): WireError {
  if (error instanceof StorageError) return { type: 'storage', kind: error.kind, message: error.message };
  if (error instanceof StoreOpenError) return { type: 'open', kind: error.kind, message: error.message };
  if (error instanceof Error) return { type: 'other', message: error.message, stack: error.stack };
  return { type: 'other', message: String(error), stack: undefined };
}

export function fromWireError(error: WireError): Error {
  if (error.type === 'storage') return new StorageError(error.kind, error.message);
  if (error.type === 'open') return new StoreOpenError(error.kind, error.message);
  const other = new Error(error.message);
  if (error.stack !== undefined) other.stack = error.stack;
  return other;
}
