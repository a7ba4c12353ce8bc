/* The thread of the search index: it follows the store at its own pace, and nobody but a search waits for it. */
import { parentPort } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import type { SearchPage } from '../../../core/ports/session-queries.ts';
import { openStoreForReading } from './open-store.ts';
import { SearchIndex } from './search-index.ts';
import type { SearchQuery } from './search-index.ts';
import { serveWorker } from './worker-channel.ts';

let opened: { readonly store: Database.Database; readonly index: SearchIndex } | undefined;

function indexOf(home: string): SearchIndex {
  if (opened === undefined) {
    const store = openStoreForReading({ home, busyTimeoutMs: 1_000 });
    opened = { store, index: new SearchIndex(home, store) };
  }
  return opened.index;
}

const api = {
  follow: (home: string, forMs: number): boolean => indexOf(home).follow(Date.now() + forMs),
  search: (home: string, query: SearchQuery, forMs: number): SearchPage =>
    indexOf(home).search(query, Date.now() + forMs),
  close(): void {
    opened?.index.close();
    opened?.store.close();
    opened = undefined;
  },
};

export type SearchApi = typeof api;

if (parentPort !== null) serveWorker(parentPort, api, 'too_large');
