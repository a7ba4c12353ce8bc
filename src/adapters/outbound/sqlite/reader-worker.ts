/* The thread for reads, over a connection that can't write: a long page of history doesn't delay a commit. */
import { parentPort } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { StorageError } from '../../../core/ports/ledger.ts';
import { openStoreForReading } from './open-store.ts';
import { makeReader } from './reads.ts';
import type { ReadMethod, Reads } from './reads.ts';
import { serveWorker } from './worker-channel.ts';

let connection: { readonly db: Database.Database; readonly read: ReturnType<typeof makeReader> } | undefined;

const api = {
  open(options: { readonly home: string; readonly busyTimeoutMs: number }): void {
    const db = openStoreForReading(options);
    connection = { db, read: makeReader(db) };
  },
  read: (method: ReadMethod, args: Parameters<Reads[ReadMethod]>) => opened().read(method, args),
  close(): void {
    const { db } = opened();
    connection = undefined;
    db.close();
  },
};

export type ReaderApi = typeof api;

if (parentPort !== null) serveWorker(parentPort, api, 'too_large');

function opened(): NonNullable<typeof connection> {
  if (connection === undefined) throw new StorageError('io', 'The store is closed');
  return connection;
}
