import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { unsafeFilesystemName } from '../../../src/adapters/outbound/sqlite/home-folder.ts';
import { openStore, openStoreForReading } from '../../../src/adapters/outbound/sqlite/open-store.ts';
import { acquireOwnerLock } from '../../../src/adapters/outbound/sqlite/owner-lock.ts';
import { makeReader } from '../../../src/adapters/outbound/sqlite/reads.ts';
import { copyStore } from '../../../src/adapters/outbound/sqlite/store-copy.ts';
import { WorkingStore, aKilledStore } from './killed-store.ts';
import { zeroFirstLeafOf } from './damage.ts';
import { creation, firstPrompt, ownerOf } from './prompts.ts';
import { temporaryHome } from './temporary-home.ts';

/*
 * What other systems' storage has done to their users, each kind once; the files named here have the rest. The built
 * daemon meets the same in test/e2e/daemon and test/e2e/storage.
 *
 * An optional store whose lock prevents the start has no place here: the gateway has one store and needs it; the mark
 * beside it is the one file that may be missing, with a warning.
 */

describe('two processes on one home', () => {
  // owner-lock.test.ts: also from another process, and after a kill.
  test('are kept apart, also when the second one comes by another path (F1)', () => {
    const home = temporaryHome();
    const alias = join(temporaryHome(), 'alias');
    symlinkSync(home, alias);
    const first = acquireOwnerLock(home);

    expect(acquireOwnerLock(alias)).toEqual({ kind: 'taken' });

    if (first.kind === 'held') first.release();
    const second = acquireOwnerLock(alias);
    expect(second.kind).toBe('held');
    if (second.kind === 'held') second.release();
  });
});

describe('a log that is removed while its writer lives', () => {
  // storage-failures.test.ts, and tail-loss.test.ts for the start after it.
  test('ends the writing, so that there are never two generations of it (F2)', async () => {
    const store = new WorkingStore();
    await store.work(1);
    rmSync(`${store.path}-wal`);

    await expect(store.work(1)).rejects.toMatchObject({ kind: 'io', outcomeUnknown: true });

    expect(readdirSync(store.home)).not.toContain('state.db-wal');
  });

  test('is no way to make a backup: the copy that this program makes has the log’s content (F2)', async () => {
    const store = new WorkingStore();
    store.keepInLog();
    await store.work(2);
    const target = join(temporaryHome(), 'backup.db');

    await copyStore(store.path, target);

    const copy = new Database(target, { readonly: true });
    expect(copy.prepare('SELECT count(*) FROM session_admissions').pluck().get()).toBe(2);
    copy.close();
  });
});

describe('a daemon on a corrupt database', () => {
  // storage-failures.test.ts and upkeep.test.ts.
  test('acknowledges none of three hundred prompts after the first failure, and keeps none of them in memory (F4)', async () => {
    const store = new WorkingStore();
    await store.work(40);
    await store.storage.close();
    zeroFirstLeafOf(store.home, 'session_admissions');
    const { storage } = new WorkingStore(store.home);
    const { ledger } = storage;
    const epoch = await ownerOf(ledger);
    await expect(ledger.readPayload('admission-3')).rejects.toMatchObject({ kind: 'corrupt' });

    const appends = Array.from({ length: 300 }, (_, n) => ledger.append(creation(`late-${String(n)}`, epoch)));
    const settled = await Promise.allSettled(appends);

    expect(settled.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(await ledger.load('late-0')).toBeNull();
    await storage.close();
  });
});

test('nothing stands between an append and its rows: no trigger writes an index that could fail it (F5)', async () => {
  const store = new WorkingStore();
  await store.work(1);

  const schema = store.writer.db.prepare('SELECT type, name, sql FROM sqlite_master').all() as readonly SchemaRow[]; // Its columns are SQLite's own.

  expect(schema.some(({ name }) => name === 'messages')).toBe(true);
  expect(schema.filter(({ type, sql }) => type === 'trigger' || /virtual table/i.test(sql ?? ''))).toEqual([]);
});

describe('a store whose journal mode another program has changed', () => {
  // open-store.test.ts: every setting is read back.
  test('has its own settings again after the next open (F7)', async () => {
    const store = new WorkingStore();
    await store.work(1);
    await store.storage.close();
    const other = new Database(store.path);
    expect(other.pragma('journal_mode = DELETE', { simple: true })).toBe('delete');
    other.close();

    const { db } = openStore({ home: store.home, newStoreId: 'another' });

    expect(['journal_mode', 'synchronous'].map((name) => db.pragma(name, { simple: true }))).toEqual(['wal', 2]);
    db.close();
  });
});

describe('a full disk', () => {
  // storage-failures.test.ts; test/e2e/storage/disk-faults.test.ts for turns, starts and kills.
  test('refuses a prompt as such, costs nothing that is there, and is over when there is room (F8)', async () => {
    const store = new WorkingStore();
    await store.work(1);
    store.checkpoint();
    const epoch = 1;
    await store.storage.ledger.append(creation('large', epoch));
    store.writer.db.pragma(`max_page_count = ${String(store.writer.db.pragma('page_count', { simple: true }))}`);
    const prompt = firstPrompt('large', epoch, 2, 'x'.repeat(200_000));

    await expect(store.storage.ledger.append(prompt)).rejects.toMatchObject({ kind: 'full', retryable: true });
    store.writer.db.pragma('max_page_count = 1000000');

    expect(await store.storage.ledger.append(prompt)).toEqual({ kind: 'committed' });
    expect(await store.storage.ledger.unfinished()).toEqual(['session-1', 'large']);
  });
});

describe('a database that is damaged before the start', () => {
  // open-store.test.ts: a header of garbage or zeroes, a folder, another program's, a newer version's.
  test('is named with the next step, and stays as it is (F10)', async () => {
    const store = new WorkingStore();
    await store.work(40);
    await store.storage.close();
    truncateSync(store.path, 8 * 4_096);
    const before = readFileSync(store.path);

    const open = (): unknown => openStore({ home: store.home, newStoreId: 'another' });

    expect(open).toThrow(/state\.db is damaged\. Nothing was changed\..*holdfast restore FILE/);
    expect(readFileSync(store.path).equals(before)).toBe(true);
  });
});

describe('a network file system', () => {
  // open-store.test.ts: where SQLite can't use a write-ahead log.
  test.each([
    [0x6969, 'NFS'],
    [0x01021997, '9p'],
    [0x6b414653, 'AFS'],
  ])('is refused by the number %i that the kernel gives it: %s (F13)', (type, name) => {
    expect(unsafeFilesystemName(type, 'linux')).toBe(name);
  });
});

describe('a log that grows behind long readers', () => {
  // upkeep.test.ts: one that has grown is emptied.
  test('has none in this program: a page that was read leaves nothing open (F14)', async () => {
    const store = new WorkingStore();
    await store.work(5);
    const db = openStoreForReading({ home: store.home });
    const read = makeReader(db);
    const page = read('listAdmissions', [{ sessionId: 'session-1', include: 'all', limit: 1, after: null }]);
    const events = read('events', [{ sessionId: 'session-1', afterSeq: 0, limit: 1 }]);
    await store.work(5);

    expect([page.admissions.length, events.events.length]).toEqual([1, 1]);
    expect(store.writer.db.pragma('wal_checkpoint(TRUNCATE)')).toMatchObject([{ busy: 0 }]);
    db.close();
  });
});

describe('files that others may read', () => {
  // open-store.test.ts, backup.test.ts; test/e2e/daemon/home-files.test.ts for the rest of a home.
  test('are none of a store’s, under any umask, at any time (F16)', async () => {
    const umask = process.umask(0);
    try {
      const home = join(temporaryHome(), 'home');
      const store = new WorkingStore(home);
      await store.work(1);
      await store.marked();
      const modes = [modesIn(home)];
      store.checkpoint();
      modes.push(modesIn(home));
      mkdirSync(join(home, 'backups'), { mode: 0o700 });
      await copyStore(store.path, join(home, 'backups', 'backup.db'));
      modes.push(modesIn(join(home, 'backups')));
      await store.storage.close();
      modes.push(modesIn(home));
      const again = new WorkingStore(home);
      modes.push(modesIn(home));
      await again.storage.close();

      expect(statSync(home).mode & 0o777).toBe(0o700);
      expect(new Set(modes.flat())).toEqual(new Set(['600']));
    } finally {
      process.umask(umask);
    }
  });
});

test('a kill leaves nothing for anybody to repair', async () => {
  const home = await aKilledStore();

  openStore({ home, newStoreId: 'another' }).db.close();
  openStore({ home, newStoreId: 'another' }).db.close();
});

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/** The modes of the files in a folder, in octal. */
function modesIn(folder: string): readonly string[] {
  const files = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
  return files.map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8));
}
