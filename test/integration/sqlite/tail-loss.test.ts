import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../../src/adapters/outbound/sqlite/open-store.ts';
import { copyStore } from '../../../src/adapters/outbound/sqlite/store-copy.ts';
import { StoreOpenError } from '../../../src/adapters/outbound/sqlite/store-open-error.ts';
import type { StoreOpenErrorKind } from '../../../src/adapters/outbound/sqlite/store-open-error.ts';
import { WorkingStore, aKilledStore, commitsIn, markIn, removeLog, storeFiles } from './killed-store.ts';
import { temporaryHome } from './temporary-home.ts';
import { backToFirstSchema } from './earlier-schema.ts';

/* Faults F32 to F36 and F43: files that SQLite takes for a sound store, from which acknowledged work is missing. */

describe('a store that was killed', () => {
  test('is opened with everything in it when its files are complete', async () => {
    const home = await aKilledStore();

    const { db, storeId, opening } = openStore({ home, newStoreId: 'another' });

    expect({ storeId, opening, commits: commitsIn(db) }).toEqual({
      storeId: 'store-1',
      opening: { lastStop: 'unclean', warnings: [] },
      commits: 31,
    });
    db.close();
  });

  test('may be ahead of its mark: what came after it is not lost', async () => {
    const store = new WorkingStore(temporaryHome(), { intervalMs: 3_600_000 });
    await store.work(5);

    const { db, opening } = openStore({ home: store.killed(), newStoreId: 'another' });

    expect([opening.lastStop, commitsIn(db)]).toEqual(['unclean', 11]);
    db.close();
  });
});

describe('a log', () => {
  test('that was deleted while nothing ran is missed', async () => {
    const home = await aKilledStore();
    removeLog(home, { index: false });

    expectRefusal(home, 'tail_missing', /state.db-wal was removed: .* up to commit 31 and later than 20\d\d-/);
  });

  test('that was deleted with its index is missed', async () => {
    const home = await aKilledStore();
    removeLog(home, { index: true });

    expectRefusal(home, 'tail_missing', /ends with commit 11, but commit 31 was acknowledged by 20\d\d-/);
  });

  test('that was deleted before any of it was in the file is missed, although no table is left', async () => {
    const home = await aKilledStore();
    removeLog(home, { index: true });
    const young = new Database(join(home, 'young.db'));
    young.pragma('journal_mode = WAL');
    young.close();
    renameSync(join(home, 'young.db'), join(home, 'state.db'));

    expectRefusal(home, 'tail_missing', /is missing or empty, but commit 31/);
  });

  test.each([0.9, 0.6, 0.3])('that was cut off at %f of its length is missed', async (share) => {
    const home = await aKilledStore();
    const wal = join(home, 'state.db-wal');
    truncateSync(wal, Math.floor(statSync(wal).size * share));

    expectRefusal(home, 'tail_missing', /acknowledged/);
  });

  test.each([0.1, 0.5, 0.9])('with one bit flipped at %f of its length is missed', async (share) => {
    const home = await aKilledStore();
    const wal = join(home, 'state.db-wal');
    const content = readFileSync(wal);
    const at = Math.floor(content.length * share);
    content.writeUInt8(content.readUInt8(at) ^ 1, at);
    writeFileSync(wal, content);

    expectRefusal(home, 'tail_missing', /acknowledged/);
  });

  test('that was cut off behind the last mark is not missed: that is the price of a mark each second', async () => {
    const store = new WorkingStore(temporaryHome(), { intervalMs: 3_600_000 });
    store.keepInLog();
    await store.work(1);
    const marked = statSync(`${store.path}-wal`).size;
    await store.work(1);
    const home = store.killed();
    truncateSync(join(home, 'state.db-wal'), marked);

    const { db, opening } = openStore({ home, newStoreId: 'another' });

    expect([opening, commitsIn(db)]).toEqual([{ lastStop: 'unclean', warnings: [] }, 3]);
    db.close();
  });

  test('that another program has brought into the file is not missed: all of the store is checked, and served', async () => {
    const home = await aKilledStore();
    const other = new Database(join(home, 'state.db'));
    other.prepare('SELECT count(*) FROM sessions').get();
    other.close();
    expect(existsSync(join(home, 'state.db-wal'))).toBe(false);

    const { db, opening } = openStore({ home, newStoreId: 'another' });

    expect([opening.lastStop, commitsIn(db)]).toEqual(['none', 31]);
    expect(opening.warnings).toEqual([expect.stringMatching(/Everything was checked/)]);
    db.close();
  });

  test('that was removed in the middle of a checkpoint is missed, wherever it had come to', async () => {
    const killed = await aKilledStore();
    const before = readFileSync(join(killed, 'state.db'));
    const after = await broughtIn(killed);
    const pages = after.length / 4_096;
    const served: number[] = [];
    for (let done = 1; done < pages; done += 1) {
      const home = temporaryHome();
      copyFileSync(join(killed, 'state.hwm'), join(home, 'state.hwm'));
      // Pages are written in their order; the file may have been as long as it was, or as long as it will be.
      const content = Buffer.concat([after.subarray(0, done * 4_096), before.subarray(done * 4_096)]);
      writeFileSync(join(home, 'state.db'), content);
      if (isServed(home)) served.push(done);
    }

    expect(served.filter((done) => !isSame(after, before, done))).toEqual([]);
  });
});

describe('an older database file', () => {
  test('under the log of a newer one is noticed, although SQLite merges them without complaint', async () => {
    const store = new WorkingStore();
    await store.work(5);
    await store.marked();
    store.checkpoint();
    const old = readFileSync(store.path);
    await store.work(5);
    await store.marked();
    store.checkpoint();
    store.keepInLog();
    await store.work(5);
    await store.marked();
    const home = store.killed();
    writeFileSync(join(home, 'state.db'), old);

    expectRefusal(
      home,
      'older_file',
      /the file ends with commit 11, the log begins after commit 21 and ends with commit 31/,
    );
  });

  test('that `holdfast backup` has made, put back by hand under a newer log, is noticed too', async () => {
    const store = new WorkingStore();
    await store.work(5);
    await store.marked();
    const backup = join(temporaryHome(), 'backup.db');
    await copyStore(store.path, backup);
    await store.work(5);
    await store.marked();
    store.checkpoint();
    store.keepInLog();
    await store.work(5);
    await store.marked();
    const home = store.killed();
    copyFileSync(backup, join(home, 'state.db'));

    expectRefusal(home, 'older_file', /older than its log/);
  });

  test('under the one log that has followed it all the time is complete', async () => {
    const store = new WorkingStore();
    await store.work(5);
    store.checkpoint();
    const old = readFileSync(store.path);
    store.keepInLog();
    await store.work(5);
    await store.marked();
    const home = store.killed();
    writeFileSync(join(home, 'state.db'), old);

    const { db } = openStore({ home, newStoreId: 'another' });

    expect(commitsIn(db)).toBe(21);
    db.close();
  });

  test('without a log, in the place of one that was stopped in order, is missed', async () => {
    const store = new WorkingStore();
    await store.work(5);
    store.checkpoint();
    const old = readFileSync(store.path);
    await store.work(5);
    await store.storage.close();
    writeFileSync(store.path, old);

    expectRefusal(store.home, 'tail_missing', /ends with commit 11, but commit 21/);
  });
});

describe('a database', () => {
  test('that was copied without its log is missed', async () => {
    const killed = await aKilledStore();
    const home = temporaryHome();
    for (const name of ['state.db', 'state.hwm']) copyFileSync(join(killed, name), join(home, name));

    expectRefusal(home, 'tail_missing', /ends with commit 11/);
  });

  test('that is gone, log and all, is missed: a start makes no empty store in its place', async () => {
    const home = await aKilledStore();
    for (const name of ['state.db', 'state.db-wal', 'state.db-shm']) rmSync(join(home, name));

    expectRefusal(home, 'tail_missing', /is missing or empty/);
    expect(existsSync(join(home, 'state.db'))).toBe(false);
  });

  test('of another store, as a cloned disk brings it, is noticed', async () => {
    const home = await aKilledStore();
    const other = new WorkingStore(temporaryHome(), { newStoreId: 'store-2' });
    await other.work(40);
    await other.storage.close();
    removeLog(home, { index: true });
    copyFileSync(other.path, join(home, 'state.db'));

    expectRefusal(home, 'other_store', /is the store store-2 \(commit 81\).* of the store store-1 \(commit 31/);
  });
});

describe('a store without a mark', () => {
  test.each([
    ['is missing', (path: string) => rmSync(path), /was missing/],
    ['can’t be read', (path: string) => writeFileSync(path, 'scribble'), /could not be read/],
  ])('that %s is opened with a warning, another id and a new mark', async (_, spoil, words) => {
    const home = await aKilledStore();
    spoil(join(home, 'state.hwm'));

    const { db, storeId, opening } = openStore({ home, newStoreId: 'store-2' });
    db.close();

    expect([storeId, opening.lastStop]).toEqual(['store-2', 'unclean']);
    expect(opening.warnings).toEqual([expect.stringMatching(words)]);
    expect(markIn(home)).toMatchObject({ storeId: 'store-2', commits: 32, epoch: 1 });
  });

  test('of an earlier schema is such a one', async () => {
    const store = new WorkingStore();
    await store.work(1);
    await store.storage.close();
    rmSync(join(store.home, 'state.hwm'));
    const old = new Database(store.path);
    old.exec(backToFirstSchema);
    old.close();

    const { db, storeId } = openStore({ home: store.home, newStoreId: 'store-2' });

    expect([storeId, commitsIn(db)]).toEqual(['store-2', 1]);
    db.close();
  });

  test('that nobody has owned yet is a new one: its first start was cut off', () => {
    const home = temporaryHome();
    openStore({ home, newStoreId: 'store-1' }).db.close();
    rmSync(join(home, 'state.hwm'));

    const { db, storeId, opening } = openStore({ home, newStoreId: 'store-2' });
    db.close();

    expect([storeId, opening]).toEqual(['store-1', { lastStop: 'none', warnings: [] }]);
  });
});

describe('a stop in order', () => {
  test('is told from every other at the next start', async () => {
    const store = new WorkingStore();
    await store.work(2);
    const killed = store.killed();
    await store.storage.close();
    const stopped = store.mark;

    const afterStop = openStore({ home: store.home, newStoreId: 'another' });
    const afterKill = openStore({ home: killed, newStoreId: 'another' });

    expect([afterStop.opening.lastStop, afterKill.opening.lastStop]).toEqual(['clean', 'unclean']);
    expect(stopped).toMatchObject({ state: 'closed', commits: 5, checkpointed: 5 });
    for (const { db } of [afterStop, afterKill]) db.close();
  });

  test('is over as soon as the next owner has opened the store', async () => {
    const store = new WorkingStore();
    await store.work(1);
    await store.storage.close();

    const next = new WorkingStore(store.home);

    expect(next.mark.state).toBe('open');
  });
});

describe('a start after damage was met', () => {
  test('looks at everything first, and refuses what is damaged', async () => {
    const home = await aStoreOnceSuspected();
    zeroPageOf(home, 'messages_of_transcript');

    expectRefusal(home, 'damaged', /is damaged: .*holdfast restore FILE/s);
  });

  test('goes on when there is none after all', async () => {
    const home = await aStoreOnceSuspected();

    const { db, opening } = openStore({ home, newStoreId: 'another' });
    db.close();

    expect(opening.lastStop).toBe('none');
  });
});

async function aStoreOnceSuspected(): Promise<string> {
  const store = new WorkingStore();
  await store.work(3);
  store.checkpoint();
  store.writer.distrust('corrupt');
  await store.storage.close();
  expect(store.mark.state).toBe('suspect');
  return store.home;
}

function zeroPageOf(home: string, name: string): void {
  const path = join(home, 'state.db');
  const db = new Database(path, { readonly: true });
  const page = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(name) ?? 0;
  db.close();
  const content = readFileSync(path);
  content.fill(0, (page - 1) * 4_096, page * 4_096);
  writeFileSync(path, content);
}

/** Opens, expects to be refused with these words, and checks that no file was touched. */
function expectRefusal(home: string, kind: StoreOpenErrorKind, words: RegExp): void {
  const before = contentOf(home);
  const refusal = refusalOf(home);
  expect(refusal.kind).toBe(kind);
  expect(refusal.message).toMatch(words);
  expect(refusal.message).toContain('holdfast restore FILE');
  if (kind !== 'damaged') expect(refusal.message).toContain('holdfast restore --accept-loss');
  expect(contentOf(home)).toEqual(before);
  expect(refusalOf(home).kind).toBe(kind);
}

/** What the database file becomes when all of the log is in it. */
async function broughtIn(killed: string): Promise<Buffer> {
  const copy = join(temporaryHome(), 'state.db');
  for (const suffix of ['', '-wal']) copyFileSync(join(killed, `state.db${suffix}`), copy + suffix);
  const db = new Database(copy);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  return readFileSync(copy);
}

function isSame(after: Buffer, before: Buffer, pagesDone: number): boolean {
  return after.subarray(pagesDone * 4_096).equals(before.subarray(pagesDone * 4_096));
}

function isServed(home: string): boolean {
  try {
    openStore({ home, newStoreId: 'another' }).db.close();
    return true;
  } catch (error) {
    if (error instanceof StoreOpenError) return false;
    throw error;
  }
}

function refusalOf(home: string): StoreOpenError {
  try {
    openStore({ home, newStoreId: 'another' }).db.close();
  } catch (error) {
    if (error instanceof StoreOpenError) return error;
    throw error;
  }
  throw new Error('The store was opened');
}

/** What each file holds. A reader makes an empty log where there is none, which changes nothing. */
function contentOf(home: string): Readonly<Record<string, string>> {
  const contents = storeFiles
    .filter((name) => existsSync(join(home, name)))
    .map((name) => [name, readFileSync(join(home, name)).toString('base64')] as const);
  return Object.fromEntries(contents.filter(([, content]) => content !== ''));
}
