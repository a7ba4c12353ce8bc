import type Database from 'better-sqlite3';
import { makeLedgerReads } from './ledger-reads.ts';
import type { LedgerReads } from './ledger-reads.ts';
import { makeQueryReads } from './query-reads.ts';
import type { QueryReads } from './query-reads.ts';
import { withStorageErrors } from './storage-errors.ts';

/** Every read of both ports. */
export type Reads = LedgerReads & QueryReads;
export type ReadMethod = keyof Reads;

/** Asks for a read, in this thread or in another. It rejects with a `StorageError` when the storage fails. */
export type ReadCall = <M extends ReadMethod>(
  method: M,
  ...args: Parameters<Reads[M]>
) => Promise<ReturnType<Reads[M]>>;

/**
 * Runs reads, each in a transaction of its own, so that all its queries see the same commit. It is over when the call
 * returns: an open read would keep the write-ahead log from being emptied.
 */
export function makeReader(
  db: Database.Database,
): <M extends ReadMethod>(method: M, args: Parameters<Reads[M]>) => ReturnType<Reads[M]> {
  const reads: Reads = { ...makeLedgerReads(db), ...makeQueryReads(db) };
  return (method, args) => {
    // TypeScript can't see that a method and its arguments belong together.
    const read = reads[method] as (...args: unknown[]) => ReturnType<Reads[typeof method]>;
    return withStorageErrors(() => db.transaction(() => read(...args))());
  };
}
