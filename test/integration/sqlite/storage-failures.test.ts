import { closeSync, openSync, renameSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inProcessStorage, openInProcessStorage } from '../../../src/adapters/outbound/sqlite/in-process-storage.ts';
import { storePath } from '../../../src/adapters/outbound/sqlite/store-files.ts';
import type { SqliteStorage } from '../../../src/adapters/outbound/sqlite/sqlite-storage.ts';
import { StoreWriter } from '../../../src/adapters/outbound/sqlite/store-writer.ts';
import { WorkerChannel } from '../../../src/adapters/outbound/sqlite/worker-channel.ts';
import { openWorkerStorage } from '../../../src/adapters/outbound/sqlite/worker-storage.ts';
import { storageErrorFrom } from '../../../src/adapters/outbound/sqlite/storage-errors.ts';
import { creation, firstPrompt, ownerOf } from './prompts.ts';
import { temporaryHome } from './temporary-home.ts';

const committed = { kind: 'committed' };
const newStoreId = 'store-1';

describe('a full disk', () => {
  test('fails every append of the transaction, and nothing of it is there', async () => {
    const { storage, writer } = aStore();
    const epoch = await sessionsIn(storage, ['a', 'b', 'c']);
    writer.db.pragma('wal_checkpoint(TRUNCATE)');
    const pages = Number(writer.db.pragma('page_count', { simple: true }));
    writer.db.pragma(`max_page_count = ${pages}`);

    const settled = await Promise.allSettled([
      storage.ledger.append(firstPrompt('a', epoch, 1)),
      storage.ledger.append(firstPrompt('b', epoch, 2, 'x'.repeat(100_000))),
      storage.ledger.append(firstPrompt('c', epoch, 3)),
    ]);

    const full = { name: 'StorageError', kind: 'full', outcomeUnknown: false, retryable: true };
    expect(settled).toMatchObject(settled.map(() => ({ status: 'rejected', reason: full })));
    expect(await storage.ledger.unfinished()).toEqual([]);
  });

  test('is over when there is room again: the same appends are committed', async () => {
    const { storage, writer } = aStore();
    const epoch = await sessionsIn(storage, ['a']);
    writer.db.pragma(`max_page_count = ${Number(writer.db.pragma('page_count', { simple: true }))}`);
    const request = firstPrompt('a', epoch, 1, 'x'.repeat(100_000));
    await expect(storage.ledger.append(request)).rejects.toMatchObject({ kind: 'full' });

    writer.db.pragma('max_page_count = 1000000');

    expect(await storage.ledger.append(request)).toEqual(committed);
  });
});

describe('another program that holds the write lock', () => {
  test.each([
    ['in-process', openInProcessStorage],
    ['in worker threads', openWorkerStorage],
  ])('makes appends fail as busy at once, %s, and as soon as it is gone they are committed', async (_name, open) => {
    const home = temporaryHome();
    const storage = await open({ home, newStoreId });
    const epoch = await sessionsIn(storage, ['a']);
    const other = new Database(storePath(home));
    other.exec('BEGIN IMMEDIATE');

    await expect(storage.ledger.append(firstPrompt('a', epoch, 1))).rejects.toMatchObject({
      name: 'StorageError',
      kind: 'busy',
      retryable: true,
    });
    expect(await storage.ledger.unfinished()).toEqual([]);
    other.exec('ROLLBACK');

    expect(await storage.ledger.append(firstPrompt('a', epoch, 1))).toEqual(committed);
    other.close();
    await storage.close();
  });
});

describe('a damaged page', () => {
  test.each([
    ['in-process', openInProcessStorage],
    ['in worker threads', openWorkerStorage],
  ])('that a read meets ends the writing too, %s', async (_name, open) => {
    const home = await aStoreWithAZeroedPage('session_admissions');
    const storage = await open({ home, newStoreId });
    const epoch = await ownerOf(storage.ledger);
    expect(await storage.ledger.append(creation('before', epoch))).toEqual(committed);

    const read = storage.ledger.readPayload('admission-3');

    const corrupt = { name: 'StorageError', kind: 'corrupt', outcomeUnknown: true };
    await expect(read).rejects.toMatchObject(corrupt);
    await expect(storage.ledger.append(creation('after', epoch))).rejects.toMatchObject(corrupt);
    await storage.close();
  });

  test('that an append meets fails its whole transaction and everything after it', async () => {
    const home = await aStoreWithAZeroedPage('session_events');
    const storage = await openInProcessStorage({ home, newStoreId });
    const epoch = await ownerOf(storage.ledger);
    expect(await storage.ledger.append(creation('z-before', epoch))).toEqual(committed);

    const settled = await Promise.allSettled([
      storage.ledger.append(creation('z-beside', epoch)),
      storage.ledger.append(creation('session-1', epoch)), // must read the page to find that it is stale
    ]);

    expect(settled).toMatchObject(settled.map(() => ({ status: 'rejected', reason: { kind: 'corrupt' } })));
    await expect(storage.ledger.append(creation('z-after', epoch))).rejects.toMatchObject({ kind: 'corrupt' });
    expect(await storage.ledger.load('z-beside')).toBeNull();
    await storage.close();
  });
});

describe('a file that was taken away', () => {
  test.each(['', '-wal'])('(state.db%s) is noticed before anything is written to it', async (suffix) => {
    const { home, storage } = aStore();
    const epoch = await sessionsIn(storage, ['a']);
    unlinkSync(storePath(home) + suffix);

    const append = storage.ledger.append(firstPrompt('a', epoch, 1));

    await expect(append).rejects.toMatchObject({ kind: 'io' });
    await expect(append).rejects.toThrow(/removed or replaced/);
    await expect(storage.ledger.append(creation('b', epoch))).rejects.toMatchObject({ kind: 'io' });
  });

  test('is noticed when another was put in its place', async () => {
    const { home, storage } = aStore();
    const epoch = await sessionsIn(storage, ['a']);
    renameSync(storePath(home), `${storePath(home)}.old`);
    writeFileSync(storePath(home), 'another');

    await expect(storage.ledger.append(firstPrompt('a', epoch, 1))).rejects.toMatchObject({ kind: 'io' });
  });
});

describe('a storage thread', () => {
  test('that ends fails every call that waits, and every later one', async () => {
    const worker = new Worker('require("node:worker_threads").parentPort.once("message", () => process.exit(1))', {
      eval: true,
    });
    const channel = new WorkerChannel<{ append: () => void }>(worker);

    const waiting = [channel.call('append'), channel.call('append')];
    const settled = await Promise.allSettled(waiting);

    const lost = { name: 'StorageError', kind: 'io', outcomeUnknown: true };
    expect(settled).toMatchObject(settled.map(() => ({ status: 'rejected', reason: lost })));
    await expect(channel.call('append')).rejects.toMatchObject(lost);
  });

  test('that crashes says why', async () => {
    const worker = new Worker('throw new Error("out of luck")', { eval: true });
    const channel = new WorkerChannel<{ append: () => void }>(worker);

    await expect(channel.call('append')).rejects.toThrow(/out of luck/);
  });

  test('that can’t open the store passes the reason on', async () => {
    const home = temporaryHome();
    writeFileSync(storePath(home), 'garbage '.repeat(1_000));

    await expect(openWorkerStorage({ home, newStoreId })).rejects.toMatchObject({
      name: 'StoreOpenError',
      kind: 'not_a_database',
    });
  });
});

test.each([
  ['SQLITE_FULL', 'full'],
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_BUSY_SNAPSHOT', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_IOERR_FSYNC', 'io'],
  ['SQLITE_IOERR_WRITE', 'io'],
  ['SQLITE_READONLY_DBMOVED', 'io'],
  ['SQLITE_CANTOPEN', 'io'],
  ['SQLITE_CORRUPT', 'corrupt'],
  ['SQLITE_CORRUPT_INDEX', 'corrupt'],
  ['SQLITE_NOTADB', 'corrupt'],
])('%s is a storage failure of kind %s', (code, kind) => {
  expect(storageErrorFrom(new Database.SqliteError('as it is', code))).toMatchObject({ name: 'StorageError', kind });
});

test.each(['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_ERROR', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG'])(
  '%s is a bug of one append and no failure of the storage',
  (code) => {
    expect(storageErrorFrom(new Database.SqliteError('as it is', code))).toBeNull();
  },
);

function aStore(): { readonly home: string; readonly storage: SqliteStorage; readonly writer: StoreWriter } {
  const home = temporaryHome();
  const writer = new StoreWriter({ home, newStoreId });
  const storage = inProcessStorage(writer);
  onTestFinished(() => storage.close());
  return { home, storage, writer };
}

/** Creates sessions and says which epoch may append to them. */
async function sessionsIn({ ledger }: SqliteStorage, sessionIds: readonly string[]): Promise<number> {
  const epoch = await ownerOf(ledger);
  for (const sessionId of sessionIds) expect(await ledger.append(creation(sessionId, epoch))).toEqual(committed);
  return epoch;
}

/** A closed store of which a disk has lost the page with the first rows of a table. */
async function aStoreWithAZeroedPage(table: 'session_admissions' | 'session_events'): Promise<string> {
  const home = temporaryHome();
  const writer = new StoreWriter({ home, newStoreId });
  const storage = inProcessStorage(writer);
  const epoch = await ownerOf(storage.ledger);
  for (let n = 1; n <= 40; n += 1) {
    await storage.ledger.append(creation(`session-${n}`, epoch));
    await storage.ledger.append(firstPrompt(`session-${n}`, epoch, n, 'x'.repeat(300)));
  }
  const firstLeaf = `SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path LIMIT 1`;
  const page = writer.db.prepare<[string], number>(firstLeaf).pluck().get(table) ?? 0;
  await storage.close();
  const file = openSync(storePath(home), 'r+');
  writeSync(file, Buffer.alloc(4_096), 0, 4_096, (page - 1) * 4_096);
  closeSync(file);
  return home;
}
