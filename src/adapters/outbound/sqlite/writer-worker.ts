/* The thread that owns the one writing connection: an fsync or a slow disk stops nobody but itself. */
import { parentPort } from 'node:worker_threads';
import { StorageError } from '../../../core/ports/ledger.ts';
import type { AppendRequest } from '../../../core/ports/ledger.ts';
import type { Opening } from './open-store.ts';
import { StoreWriter } from './store-writer.ts';
import type { StoreWriterOptions } from './store-writer.ts';
import { serveWorker } from './worker-channel.ts';

let writer: StoreWriter | undefined;

const api = {
  open(options: StoreWriterOptions): { readonly storeId: string; readonly opening: Opening } {
    writer = new StoreWriter(options);
    return { storeId: writer.storeId, opening: writer.opening };
  },
  takeOwnership: (owner: { readonly instanceId: string; readonly now: string }) => opened().takeOwnership(owner),
  appendBatch: (requests: readonly AppendRequest[]) => opened().appendBatch(requests),
  distrust: (kind: StorageError['kind']) => opened().distrust(kind),
  checked: () => opened().checked(),
  isTrusted: () => opened().isTrusted,
  close(): void {
    const closing = opened();
    writer = undefined;
    closing.close();
  },
};

export type WriterApi = typeof api;

if (parentPort !== null) serveWorker(parentPort, api, 'io');

function opened(): StoreWriter {
  if (writer === undefined) throw new StorageError('io', 'The store is closed');
  return writer;
}
