import { copyFileSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { readCommitsInFile } from '../../../src/adapters/outbound/sqlite/epoch-page.ts';
import { MarkFile, readMark } from '../../../src/adapters/outbound/sqlite/high-water-mark.ts';
import type { HighWaterMark } from '../../../src/adapters/outbound/sqlite/high-water-mark.ts';
import { temporaryHome } from './temporary-home.ts';

const slotBytes = 4_096;

function aMark(commits: number, overrides: Partial<HighWaterMark> = {}): HighWaterMark {
  return {
    storeId: 'store-1',
    epoch: 3,
    commits,
    checkpointed: 0,
    at: '2030-01-01T00:00:00.000Z',
    state: 'open',
    ...overrides,
  };
}

describe('the file of the mark', () => {
  test('is text for its owner only, with the newest mark last in time', async () => {
    const path = join(temporaryHome(), 'state.hwm');
    const file = MarkFile.create(path, aMark(1));
    for (const commits of [2, 3, 4]) await file.write(aMark(commits));
    file.writeNow(aMark(5, { state: 'closed' }));

    expect(readMark(path)).toEqual({ kind: 'found', mark: aMark(5, { state: 'closed' }) });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toContain('"commits":5');
  });

  test('is gone on with by the next owner', async () => {
    const path = join(temporaryHome(), 'state.hwm');
    await MarkFile.create(path, aMark(1)).write(aMark(2));

    const file = MarkFile.continue(path);
    await file.write({ ...file.mark, commits: 3 });

    expect(readMark(path)).toEqual({ kind: 'found', mark: aMark(3) });
  });

  test('that somebody removed is made anew by the next write', async () => {
    const home = temporaryHome();
    const path = join(home, 'state.hwm');
    const file = MarkFile.create(path, aMark(1));

    rmSync(path);
    await file.write(aMark(2));
    rmSync(path);
    file.writeNow(aMark(3));

    expect(readMark(path)).toEqual({ kind: 'found', mark: aMark(3) });
    expect(readdirSync(home)).toEqual(['state.hwm']);
  });

  test('has a slot left when the write of the other was torn at any byte', async () => {
    const path = join(temporaryHome(), 'state.hwm');
    const file = MarkFile.create(path, aMark(1));
    await file.write(aMark(2));
    const before = readFileSync(path);
    await file.write(aMark(3));
    const after = readFileSync(path);

    for (let torn = 0; torn <= 300; torn += 1) {
      // Of the slot that is being written, `torn` bytes have arrived.
      const content = Buffer.concat([
        before.subarray(0, slotBytes),
        after.subarray(slotBytes, slotBytes + torn),
        before.subarray(slotBytes + torn),
      ]);
      writeFileSync(path, content);
      expect([2, 3]).toContain(markAt(path)?.commits);
    }
  });

  test('is believed for no slot with one bit flipped, and for the other one still', async () => {
    const path = join(temporaryHome(), 'state.hwm');
    await MarkFile.create(path, aMark(1)).write(aMark(2));
    const sound = readFileSync(path);
    const newest = sound.indexOf('"commits":2') < slotBytes ? 0 : slotBytes;
    const length = sound.indexOf('\n', newest) - newest;

    for (let bit = 0; bit < length * 8; bit += 5) {
      const damaged = Buffer.from(sound);
      damaged.writeUInt8(damaged.readUInt8(newest + (bit >> 3)) ^ (1 << (bit & 7)), newest + (bit >> 3));
      writeFileSync(path, damaged);
      expect(markAt(path)).toEqual(aMark(1));
    }
  });

  test.each([
    ['is empty', 0],
    ['is cut off in its first slot', 20],
  ])('that %s can’t be read, and says so', (_, length) => {
    const path = join(temporaryHome(), 'state.hwm');
    MarkFile.create(path, aMark(1));
    truncateSync(path, length);

    expect(readMark(path)).toEqual({ kind: 'unreadable' });
  });

  test('that is not there is told from one that can’t be read', () => {
    expect(readMark(join(temporaryHome(), 'state.hwm'))).toEqual({ kind: 'absent' });
  });
});

describe('the commit number in the database file alone', () => {
  const numbers = [0, 1, 2, 127, 128, 32_767, 32_768, 8_388_608, 2_147_483_648, 2 ** 40, 2 ** 47, 2 ** 52];

  test.each(numbers)('is read as SQLite has written it: %i', (commits) => {
    const { path, db } = aDatabase();
    db.prepare('UPDATE runtime_epoch SET commits = ?').run(commits);
    db.close();

    expect(readCommitsInFile(path, { pageNumber: 2, pageBytes: 4_096, column: 5 })).toBe(commits);
  });

  test('is that before the log, although SQLite shows both together', () => {
    const { path, db } = aDatabase();
    db.pragma('journal_mode = WAL');
    db.exec('UPDATE runtime_epoch SET commits = 9');
    // Beside the database that is open, so that no lock of it is touched.
    const copy = `${path}.copy`;
    copyFileSync(path, copy);

    expect(readCommitsInFile(copy, { pageNumber: 2, pageBytes: 4_096, column: 5 })).toBe(0);
    db.close();
  });

  test.each([
    ['that was never written', () => Buffer.alloc(0)],
    ['of zeroes', () => Buffer.alloc(3 * 4_096)],
    ['of ones', () => Buffer.alloc(3 * 4_096, 0xff)],
    ['whose cell points out of it', () => pageWith([0x0d, 0, 0, 0, 1, 0, 0, 0, 0xff, 0xff])],
    ['whose record is longer than it', () => pageWith([0x0d, 0, 0, 0, 1, 0, 0, 0, 0x0f, 0xf8])],
  ])('says nothing on a page %s', (_, content) => {
    const path = join(temporaryHome(), 'state.db');
    writeFileSync(path, content());

    expect(readCommitsInFile(path, { pageNumber: 2, pageBytes: 4_096, column: 5 })).toBeNull();
  });
});

function markAt(path: string): HighWaterMark | null {
  const found = readMark(path);
  return found.kind === 'found' ? found.mark : null;
}

function aDatabase(): { readonly path: string; readonly db: Database.Database } {
  const path = join(temporaryHome(), 'state.db');
  const db = new Database(path);
  db.exec(`
    CREATE TABLE runtime_epoch (singleton INTEGER PRIMARY KEY, epoch INTEGER, instance_id TEXT, store_id TEXT, started_at TEXT);
    INSERT INTO runtime_epoch VALUES (1, 70000, 'instance-1', 'store-1', NULL);
    ALTER TABLE runtime_epoch ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;
    UPDATE runtime_epoch SET commits = 0;
  `);
  return { path, db };
}

function pageWith(bytes: readonly number[]): Buffer {
  const content = Buffer.alloc(2 * 4_096, 0xff);
  Buffer.from(bytes).copy(content, 4_096);
  return content;
}
