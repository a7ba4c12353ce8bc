import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { schemaVersion } from '../../../src/adapters/outbound/sqlite/migrations.ts';
import { openStore, openStoreForReading } from '../../../src/adapters/outbound/sqlite/open-store.ts';
import { storePath } from '../../../src/adapters/outbound/sqlite/store-files.ts';
import type { OpenedStore } from '../../../src/adapters/outbound/sqlite/open-store.ts';
import { setWriterPragmas } from '../../../src/adapters/outbound/sqlite/pragmas.ts';
import { StoreOpenError } from '../../../src/adapters/outbound/sqlite/store-open-error.ts';
import type { StoreOpenErrorKind } from '../../../src/adapters/outbound/sqlite/store-open-error.ts';
import { StoreWriter } from '../../../src/adapters/outbound/sqlite/store-writer.ts';
import { temporaryHome } from './temporary-home.ts';

const newStoreId = 'store-1';

describe('opening a store', () => {
  test('creates it in an empty home folder, and in a folder that is not there yet', () => {
    const home = join(temporaryHome(), 'not', 'there');

    const { db, storeId } = openStore({ home, newStoreId });
    db.close();

    expect(storeId).toBe(newStoreId);
    expect(modeOf(home)).toBe(0o700);
  });

  test('again finds the same store, with the id that it was created with', () => {
    const home = temporaryHome();
    openStore({ home, newStoreId }).db.close();

    const { db, storeId } = openStore({ home, newStoreId: 'another' });
    db.close();

    expect(storeId).toBe(newStoreId);
  });

  test('takes an empty file for a new store', () => {
    const home = temporaryHome();
    writeFileSync(storePath(home), '');

    const { db, storeId } = openStore({ home, newStoreId });
    db.close();

    expect(storeId).toBe(newStoreId);
  });

  test('sets what makes commits durable, and for the reader what keeps it from writing', () => {
    const home = temporaryHome();
    const { db } = openStore({ home, newStoreId, busyTimeoutMs: 20 });
    const reader = openStoreForReading({ home });

    const pragma = (name: string): unknown => db.pragma(name, { simple: true });
    expect(pragma('journal_mode')).toBe('wal');
    expect(pragma('synchronous')).toBe(2);
    expect(pragma('foreign_keys')).toBe(1);
    expect(pragma('busy_timeout')).toBe(20);
    expect(pragma('wal_autocheckpoint')).toBe(1_000);
    expect(pragma('journal_size_limit')).toBe(16 * 1024 * 1024);
    expect(pragma('cell_size_check')).toBe(1);
    expect(pragma('trusted_schema')).toBe(0);
    expect(pragma('user_version')).toBe(schemaVersion);
    expect(() => reader.exec('DELETE FROM messages')).toThrow(/readonly/);
    reader.close();
    db.close();
  });

  test('with synchronous: normal is possible, and only then', () => {
    const { db } = openStore({ home: temporaryHome(), newStoreId, synchronous: 'normal' });
    expect(db.pragma('synchronous', { simple: true })).toBe(1);
    db.close();
  });
});

describe('the files of a store', () => {
  test('are for their owner only, whatever the umask is', () => {
    const home = temporaryHome();
    const umask = process.umask(0);
    try {
      const { db } = openStore({ home, newStoreId });
      const reader = openStoreForReading({ home });
      const names = ['state.db', 'state.db-wal', 'state.db-shm'];
      expect(names.map((name) => modeOf(join(home, name)))).toEqual([0o600, 0o600, 0o600]);
      reader.close();
      db.close();
    } finally {
      process.umask(umask);
    }
  });

  test('that others may read are closed to them at the next start', () => {
    const home = temporaryHome();
    openStore({ home, newStoreId }).db.close();
    chmodSync(storePath(home), 0o644);

    openStore({ home, newStoreId }).db.close();

    expect(modeOf(storePath(home))).toBe(0o600);
  });

  test('that lie beside the database get its mode at the next start, whatever they had', () => {
    const home = temporaryHome();
    const killed = openStore({ home, newStoreId });
    for (const suffix of ['-wal', '-shm']) chmodSync(`${storePath(home)}${suffix}`, 0o400);

    const { db } = openStore({ home, newStoreId });

    expect(['-wal', '-shm'].map((suffix) => modeOf(`${storePath(home)}${suffix}`))).toEqual([0o600, 0o600]);
    db.close();
    killed.db.close();
  });

  test('are one file after a stop: the log is emptied into the database', () => {
    const home = temporaryHome();
    const writer = new StoreWriter({ home, newStoreId });
    writer.takeOwnership({ instanceId: 'instance-1', now: '2030-01-01T00:00:00.000Z' });

    writer.close();

    expect(statSync(`${storePath(home)}-wal`, { throwIfNoEntry: false })).toBeUndefined();
    const { db } = openStore({ home, newStoreId });
    expect(db.prepare('SELECT epoch FROM runtime_epoch').pluck().get()).toBe(1);
    db.close();
  });
});

describe('a store that can’t be opened is refused and stays as it is', () => {
  test('when a folder is in its place', () => {
    const home = temporaryHome();
    mkdirSync(storePath(home));

    expectRefusal(home, 'not_a_file', storePath(home));
  });

  test.each(['state.db', 'state.db-wal', 'state.db-shm', 'state.hwm'])(
    'when a folder is in the place of %s, or a link to nothing',
    (name) => {
      const home = aStoreWithContent();
      const path = join(home, name);
      rmSync(path, { force: true });

      mkdirSync(path);
      expectRefusal(home, 'not_a_file', `${path} is not a file`);
      rmdirSync(path);
      symlinkSync(join(home, 'nowhere'), path);
      expectRefusal(home, 'not_a_file', `${path} is a link to a file that isn't there`);

      expect(lstatSync(path).isSymbolicLink()).toBe(true);
    },
  );

  test('when what goes wrong is about another file than the database, which is named then', () => {
    const home = temporaryHome();
    mkdirSync(join(home, 'state.hwm.new'));

    const { message } = refusalOf(home);

    expect(message).toMatch(/^\S+\/state\.hwm\.new can't be used/);
  });

  test.each([100, 4_096, 100_000])('when the file is %i bytes of something else', (length) => {
    const home = temporaryHome();
    writeFileSync(storePath(home), Buffer.alloc(length, 'garbage '));

    expectRefusal(home, 'not_a_database', 'holdfast restore');
  });

  test('when its header is zeroed', () => {
    const home = aStoreWithContent();
    writeFileSync(storePath(home), readFileSync(storePath(home)).fill(0, 0, 100));

    expectRefusal(home, 'not_a_database', storePath(home));
  });

  test('when half of it is missing', () => {
    const home = aStoreWithContent();
    truncateSync(storePath(home), Math.floor(statSync(storePath(home)).size / 8_192) * 4_096);

    expectRefusal(home, 'damaged', 'holdfast restore');
  });

  test.each(['missing', 'empty'])('when it is %s and its log has content', (state) => {
    const home = temporaryHome();
    if (state === 'empty') writeFileSync(storePath(home), '');
    writeFileSync(`${storePath(home)}-wal`, 'acknowledged commits');

    expectRefusal(home, 'damaged', state);

    expect(readFileSync(`${storePath(home)}-wal`, 'utf8')).toBe('acknowledged commits');
  });

  test('when a newer version has written it', () => {
    const home = aStoreWithContent();
    const db = new Database(storePath(home));
    db.pragma(`user_version = ${schemaVersion + 1}`);
    db.close();

    expectRefusal(home, 'newer_schema', 'newer Holdfast');
  });

  test('when it is the database of another program', () => {
    const home = temporaryHome();
    const db = new Database(storePath(home));
    db.exec('CREATE TABLE theirs (id INTEGER)');
    db.close();

    expectRefusal(home, 'foreign', 'another program');
  });

  test('when another program is writing to it', () => {
    const home = aStoreWithContent();
    const other = new Database(storePath(home));
    other.exec('BEGIN IMMEDIATE');

    expectRefusal(home, 'busy', 'in use');

    other.close();
  });

  test('when the folder can’t be made', () => {
    const file = join(temporaryHome(), 'file');
    writeFileSync(file, '');

    expectRefusal(join(file, 'home'), 'unwritable', '--home');
  });

  // Permissions don't stop root: a file that the kernel keeps read-only does.
  test.runIf(process.platform === 'linux')('when the file can’t be written', () => {
    const home = temporaryHome();
    symlinkSync('/proc/version', storePath(home));

    expectRefusal(home, 'unwritable', 'the right to read and write');
  });

  test('when SQLite can’t use a write-ahead log there', () => {
    const db = new Database(':memory:'); // the one kind of database that has no log
    const set = (): void => setWriterPragmas(db, { path: 'state.db', synchronous: 'full', busyTimeoutMs: 0 });

    expect(set).toThrow(expect.objectContaining({ name: 'StoreOpenError', kind: 'wal_unavailable' }));
    db.close();
  });
});

function aStoreWithContent(): string {
  const home = temporaryHome();
  const { db } = openStore({ home, newStoreId });
  db.prepare(
    `INSERT INTO sessions (id, root_session_id, source, model, provider, started_at, principal_id, toolsets, system_prompt)
     VALUES ('s', 's', '', '', '', '', '', '[]', ?)`,
  ).run('x'.repeat(100_000));
  db.close();
  return home;
}

/** Opens, expects to be refused with these words, and checks that the file was not touched. */
function expectRefusal(home: string, kind: StoreOpenErrorKind, words: string): void {
  const before = contentOf(storePath(home));
  const refusal = refusalOf(home);
  expect(refusal.kind).toBe(kind);
  expect(refusal.message).toContain(words);
  expect(contentOf(storePath(home))).toEqual(before);
}

function refusalOf(home: string): StoreOpenError {
  let opened: OpenedStore | undefined;
  try {
    opened = openStore({ home, newStoreId });
  } catch (error) {
    if (error instanceof StoreOpenError) return error;
    throw error;
  }
  opened.db.close();
  throw new Error('The store was opened');
}

function contentOf(path: string): Buffer | null {
  return existsSync(path) && statSync(path).isFile() ? readFileSync(path) : null;
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}
