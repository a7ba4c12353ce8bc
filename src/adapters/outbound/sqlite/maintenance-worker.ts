/* The thread for what reads the whole store. It lives while it has something to do, and nothing waits for it. */
import { parentPort } from 'node:worker_threads';
import { copyStore } from './store-copy.ts';
import type { CopyOutcome } from './store-copy.ts';
import { findDamage } from './verify-store.ts';
import { serveWorker } from './worker-channel.ts';

const api = {
  findDamage: (path: string): readonly string[] => findDamage(path, 'quick_check'),
  copy: (path: string, target: string): Promise<CopyOutcome> => copyStore(path, target),
};

export type MaintenanceApi = typeof api;

if (parentPort !== null) serveWorker(parentPort, api, 'too_large');
