import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openInProcessStorage } from '../../../src/adapters/outbound/sqlite/in-process-storage.ts';
import { schemaVersion } from '../../../src/adapters/outbound/sqlite/migrations.ts';
import { openStore } from '../../../src/adapters/outbound/sqlite/open-store.ts';
import { acceptLoss, restoreBackup } from '../../../src/adapters/outbound/sqlite/restore-store.ts';
import { copyStore } from '../../../src/adapters/outbound/sqlite/store-copy.ts';
import { StoreOpenError } from '../../../src/adapters/outbound/sqlite/store-open-error.ts';
import type { StoreOpenErrorKind } from '../../../src/adapters/outbound/sqlite/store-open-error.ts';
import { zeroFirstLeafOf } from './damage.ts';
import { WorkingStore, aKilledStore, markIn, storeFiles } from './killed-store.ts';
import { ownerOf } from './prompts.ts';
import { temporaryHome } from './temporary-home.ts';
import { backToFirstSchema } from './earlier-schema.ts';

const at = '2030-06-01T12:00:00.000Z';
const newStoreId = 'store-2';
const keptName = 'damaged-2030-06-01T12-00-00-000Z';

describe('a backup that is restored', () => {
  test('is the store from then on, with another id and a higher epoch, and opens as after a stop in order', async () => {
    const { home, backup } = await aDamagedHomeWithBackup();

    const restored = await restoreBackup(backup, { home, newStoreId, at });

    expect(restored).toEqual({
      store: {
        storeId: newStoreId,
        epoch: 4,
        commits: 12,
        admissions: { queued: 5, started: 0, unknown: 0, terminal: 0 },
      },
      missing: { after: 11, until: 33, at: expect.any(String) as string },
      keptIn: join(home, keptName),
    });
    expect(markIn(home)).toMatchObject({ storeId: newStoreId, epoch: 4, commits: 12, state: 'closed' });
    const storage = await openInProcessStorage({ home, newStoreId: 'another' });
    expect([storage.storeId, storage.opening]).toEqual([newStoreId, { lastStop: 'clean', warnings: [] }]);
    expect(await ownerOf(storage.ledger)).toBe(5);
    expect(await storage.ledger.unfinished()).toHaveLength(5);
    await storage.close();
  });

  test('leaves every file that was there before, byte for byte, in a folder of its own', async () => {
    const { home, backup } = await aDamagedHomeWithBackup();
    const before = filesOf(home);

    await restoreBackup(backup, { home, newStoreId, at });

    const after = filesOf(join(home, keptName));
    for (const name of storeFiles) expect(after[name]).toBe(before[name]);
    expect(statSync(join(home, keptName)).mode & 0o777).toBe(0o700);
    expect(readdirSync(home).sort()).toEqual([keptName, 'state.db', 'state.hwm']);
  });

  test('stays as it is, and can be restored again', async () => {
    const { home, backup } = await aDamagedHomeWithBackup();
    const content = readFileSync(backup);

    await restoreBackup(backup, { home, newStoreId, at });
    const again = await restoreBackup(backup, { home, newStoreId: 'store-3', at });

    expect(readFileSync(backup).equals(content)).toBe(true);
    expect(again).toMatchObject({ store: { storeId: 'store-3', epoch: 5 }, keptIn: join(home, `${keptName}-2`) });
  });

  test('goes into a home that has no store', async () => {
    const { backup } = await aDamagedHomeWithBackup();
    const home = join(temporaryHome(), 'new');

    const restored = await restoreBackup(backup, { home, newStoreId, at });

    expect(restored).toMatchObject({ store: { epoch: 2, commits: 12 }, keptIn: null });
    openStore({ home, newStoreId: 'another' }).db.close();
  });

  test('may be the kept files of an earlier store: what its log adds comes with it', async () => {
    const { home, backup } = await aDamagedHomeWithBackup(false);
    await restoreBackup(backup, { home, newStoreId, at });

    const restored = await restoreBackup(join(home, keptName, 'state.db'), { home, newStoreId: 'store-3', at });

    expect(restored.store).toMatchObject({ storeId: 'store-3', admissions: { queued: 15 } });
  });

  test('of an earlier schema is brought to this one', async () => {
    const { home, backup } = await aDamagedHomeWithBackup();
    const old = new Database(backup);
    old.exec(backToFirstSchema);
    old.close();

    await restoreBackup(backup, { home, newStoreId, at });

    const { db } = openStore({ home, newStoreId: 'another' });
    expect(db.pragma('user_version', { simple: true })).toBe(schemaVersion);
    db.close();
  });
});

describe('a restore is refused, and nothing is touched,', () => {
  const spoilt: readonly (readonly [string, StoreOpenErrorKind, (backup: string) => void])[] = [
    ['is not there', 'no_backup', (backup) => rmSync(backup)],
    ['is empty', 'no_backup', (backup) => writeFileSync(backup, '')],
    ['is a folder', 'no_backup', (backup) => (rmSync(backup), mkdirSync(backup))],
    ['is no database', 'not_a_database', (backup) => writeFileSync(backup, 'these are my notes\n'.repeat(1_000))],
    ['is the database of another program', 'foreign', (backup) => makeForeign(backup)],
    [
      'was written by a newer version',
      'newer_schema',
      (backup) => change(backup, `PRAGMA user_version = ${String(schemaVersion + 1)}`),
    ],
    ['is cut in half', 'damaged', (backup) => writeFileSync(backup, readFileSync(backup).subarray(0, 40_000))],
    ['has an index that misses a row', 'damaged', hideFromIndex],
    [
      'has rows that refer to nothing',
      'damaged',
      (backup) => change(backup, `DELETE FROM sessions WHERE id = 'session-3'`),
    ],
    [
      'has a gap in the events of a session',
      'damaged',
      (backup) => change(backup, `UPDATE session_events SET seq = 4 WHERE session_id = 'session-2' AND seq = 2`),
    ],
  ];

  test.each(spoilt)('when the backup %s', async (_, kind, spoil) => {
    const { home, backup } = await aDamagedHomeWithBackup();
    spoil(backup);
    const before = filesOf(home);

    const refusal = await refusalOf(restoreBackup(backup, { home, newStoreId, at }));

    expect(refusal.kind).toBe(kind);
    expect(refusal.message).toContain(backup);
    expect(filesOf(home)).toEqual(before);
  });

  test('when the backup is the store itself', async () => {
    const home = await aKilledStore();

    const refusal = await refusalOf(restoreBackup(join(home, 'state.db'), { home, newStoreId, at }));

    expect(refusal.message).toContain('--accept-loss');
    expect(existsSync(join(home, keptName))).toBe(false);
  });
});

describe('a restore that is killed in the middle', () => {
  // The steps that the restore makes, in its order; each test stops after one of them.
  test.each([1, 2, 3])(
    'after step %i leaves a home that a start refuses and a second restore puts right',
    async (steps) => {
      const { home, backup } = await aDamagedHomeWithBackup(false);
      const finished = temporaryHome();
      await restoreBackup(backup, { home: finished, newStoreId: 'half-way', at });
      const kept = join(home, 'damaged-half-way');
      mkdirSync(kept);
      const made = [
        () => copyFileSync(join(finished, 'state.hwm'), join(home, 'state.hwm')),
        () => renameSync(join(home, 'state.db-wal'), join(kept, 'state.db-wal')),
        () => renameSync(join(home, 'state.db'), join(kept, 'state.db')),
      ];
      for (const step of made.slice(0, steps)) step();

      expect(() => openStore({ home, newStoreId: 'another' }).db.close()).toThrow(StoreOpenError);
      const { store } = await restoreBackup(backup, { home, newStoreId, at });

      expect(store).toMatchObject({ storeId: newStoreId, commits: 12 });
      openStore({ home, newStoreId: 'another' }).db.close();
    },
  );
});

describe('a loss that is accepted', () => {
  test('makes another store of what is left, which opens', async () => {
    const home = await aKilledStore();
    rmSync(join(home, 'state.db-wal'));

    const restored = acceptLoss({ home, newStoreId, at });

    expect(restored).toEqual({
      store: {
        storeId: newStoreId,
        epoch: 2,
        commits: 12,
        admissions: { queued: 5, started: 0, unknown: 0, terminal: 0 },
      },
      missing: { after: 11, until: 31, at: expect.any(String) as string },
      keptIn: join(home, keptName),
    });
    const { db, storeId, opening } = openStore({ home, newStoreId: 'another' });
    expect([storeId, opening.lastStop]).toEqual([newStoreId, 'clean']);
    db.close();
  });

  test('keeps the log as it was: what lies behind the damage may still be read from it', async () => {
    const home = await aKilledStore();
    const wal = join(home, 'state.db-wal');
    const content = readFileSync(wal);
    content.writeUInt8(content.readUInt8(content.length >> 1) ^ 1, content.length >> 1);
    writeFileSync(wal, content);
    const before = filesOf(home);

    const { store, keptIn } = acceptLoss({ home, newStoreId, at });

    expect(filesOf(keptIn ?? '')).toEqual({ 'state.db-wal': before['state.db-wal'], 'state.hwm': before['state.hwm'] });
    expect(store?.commits).toBeGreaterThan(11);
    expect(store?.commits).toBeLessThan(31);
    openStore({ home, newStoreId: 'another' }).db.close();
  });

  test('makes a store of one that a cloned disk has brought, with an epoch above both', async () => {
    const home = await aKilledStore();
    const other = new WorkingStore(temporaryHome(), { newStoreId: 'store-9' });
    await other.work(1);
    await other.storage.close();
    rmSync(join(home, 'state.db-wal'));
    copyFileSync(other.path, join(home, 'state.db'));

    acceptLoss({ home, newStoreId, at });

    openStore({ home, newStoreId: 'another' }).db.close();
    expect(markIn(home)).toMatchObject({ storeId: newStoreId, epoch: 2, commits: 4 });
  });

  test('of a whole store lets the next start make an empty one', async () => {
    const home = await aKilledStore();
    for (const name of ['state.db', 'state.db-wal', 'state.db-shm']) rmSync(join(home, name));

    expect(acceptLoss({ home, newStoreId, at })).toMatchObject({
      store: null,
      missing: { after: 0, until: 31 },
      keptIn: join(home, keptName),
    });

    const { db, opening } = openStore({ home, newStoreId: 'store-3' });
    expect(opening).toEqual({ lastStop: 'none', warnings: [] });
    db.close();
  });

  test.each([
    ['deleted', rmSync],
    ['emptied', truncateSync],
  ])(
    'of a killed store whose database was %s takes its log away too, so that the next start can begin',
    async (_how, spoil) => {
      const home = await aKilledStore();
      const log = readFileSync(join(home, 'state.db-wal'));
      spoil(join(home, 'state.db'));

      const restored = acceptLoss({ home, newStoreId, at });

      expect(restored).toMatchObject({ store: null, missing: { after: 0 }, keptIn: join(home, keptName) });
      expect(readFileSync(join(home, keptName, 'state.db-wal')).equals(log)).toBe(true);
      expect(readdirSync(home)).not.toContain('state.hwm');
      const opened = openStore({ home, newStoreId: 'fresh' });
      expect([opened.storeId, opened.opening.warnings]).toEqual(['fresh', []]);
      opened.db.close();
    },
  );

  test('is refused where the store is not whole in itself, and nothing is touched', async () => {
    const store = new WorkingStore();
    await store.work(40);
    await store.storage.close();
    zeroFirstLeafOf(store.home, 'session_events');
    const before = filesOf(store.home);

    const refusal = await refusalOf(async () => acceptLoss({ home: store.home, newStoreId, at }));

    expect(refusal.kind).toBe('damaged');
    expect(refusal.message).toContain('holdfast restore FILE');
    expect(filesOf(store.home)).toEqual(before);
  });
});

/** A home that has lost its log, whose owner was the third, with a backup of five prompts from before. */
async function aDamagedHomeWithBackup(loseLog = true): Promise<{ readonly home: string; readonly backup: string }> {
  const store = new WorkingStore();
  await store.work(5);
  const backup = join(temporaryHome(), 'backup.db');
  await copyStore(store.path, backup);
  store.keepInLog();
  await store.work(10);
  for (let owners = 0; owners < 2; owners += 1) await ownerOf(store.storage.ledger);
  await store.marked();
  const home = store.killed();
  if (loseLog) rmSync(join(home, 'state.db-wal'));
  return { home, backup };
}

async function refusalOf(action: Promise<unknown> | (() => Promise<unknown>)): Promise<StoreOpenError> {
  try {
    await (typeof action === 'function' ? action() : action);
  } catch (error) {
    if (error instanceof StoreOpenError) return error;
    throw error;
  }
  throw new Error('It was not refused');
}

/** Of a home's own files: what they hold. An empty log changes nothing. */
function filesOf(home: string): Readonly<Record<string, string>> {
  const names = storeFiles.filter((name) => existsSync(join(home, name)));
  const contents = names.map((name) => [name, readFileSync(join(home, name)).toString('base64')] as const);
  return Object.fromEntries(contents.filter(([, content]) => content !== ''));
}

function change(path: string, sql: string): void {
  const db = new Database(path);
  db.pragma('foreign_keys = OFF');
  db.exec(sql);
  db.close();
}

/** Adds a row that an index of its table doesn't know of. */
function hideFromIndex(path: string): void {
  const index = `name = 'compressions_of_session'`;
  const db = new Database(path);
  const [entry] = db
    .prepare(`SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE ${index}`)
    .raw()
    .all();
  changeSchema(db, `DELETE FROM sqlite_schema WHERE ${index}`, []);
  db.close();
  change(
    path,
    `INSERT INTO compressions (id, session_id, parent_transcript, trigger, status, tokens_before, epoch, started_at)
     VALUES ('c', 'session-1', 'session-1', 'preflight', 'completed', 1, 1, '')`,
  );
  const again = new Database(path);
  changeSchema(again, 'INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)', entry as unknown[]); // a raw row is an array
  again.close();
}

function changeSchema(db: Database.Database, sql: string, values: unknown[]): void {
  db.unsafeMode();
  db.pragma('writable_schema = ON');
  db.prepare(sql).run(...values);
}

function makeForeign(path: string): void {
  rmSync(path);
  change(path, 'CREATE TABLE theirs (id INTEGER)');
}
