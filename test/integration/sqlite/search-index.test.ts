import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openInProcessStorage } from '../../../src/adapters/outbound/sqlite/in-process-storage.ts';
import { openWorkerStorage } from '../../../src/adapters/outbound/sqlite/worker-storage.ts';
import type { SqliteStorage, SqliteStorageOptions } from '../../../src/adapters/outbound/sqlite/sqlite-storage.ts';
import { parseSearch } from '../../../src/core/domain/search/terms.ts';
import type { StorageError } from '../../../src/core/ports/ledger.ts';
import type { SearchPage } from '../../../src/core/ports/session-queries.ts';
import { TestOwner } from '../../support/test-owner.ts';
import { temporaryHome } from './temporary-home.ts';

const failures: StorageError[] = [];

const options = (home: string): SqliteStorageOptions => ({
  home,
  newStoreId: 'store-1',
  synchronous: 'normal',
  allowUnsafeFilesystem: true,
  onFailure: (error) => failures.push(error),
});

/** In this thread: what the threads add is the last test's. */
async function opened(home: string): Promise<SqliteStorage> {
  const storage = await openInProcessStorage(options(home));
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => (closed ??= storage.close());
  onTestFinished(close);
  return { ...storage, close };
}

async function find(storage: Pick<SqliteStorage, 'queries'>, query = 'zebra'): Promise<SearchPage> {
  const terms = parseSearch(query);
  return storage.queries.search({ principalId: 'local', sessionId: null, terms, before: null, limit: 10 });
}

const textsOf = ({ hits }: SearchPage): readonly string[] => hits.map(({ message }) => message.text);

/** A store with one message about a zebra, indexed, and closed again. */
async function anIndexedStore(): Promise<{ home: string; index: string }> {
  const home = temporaryHome();
  const storage = await opened(home);
  const session = await (await TestOwner.takingOver(storage.ledger)).create('session-1');
  await session.turn('a', { answer: 'a zebra crossing' });
  expect(await find(storage)).toMatchObject({ behind: false, hits: [{}] });
  await storage.close();
  return { home, index: join(home, 'search.db') };
}

describe('the search index', () => {
  test('is a file of its owner only, and its store knows nothing of it', async () => {
    const { home, index } = await anIndexedStore();

    expect(statSync(index).mode & 0o777).toBe(0o600);
    const store = new Database(join(home, 'state.db'), { readonly: true });
    const tables = store.prepare<[], string>('SELECT name FROM sqlite_schema').pluck().all();
    store.close();
    expect(tables.filter((name) => /search|words|fts/.test(name))).toEqual([]);
  });

  test.each<[string, (index: string) => void]>([
    ['gone', (index) => rmSync(index)],
    ['empty', (index) => writeFileSync(index, '')],
    ['no database', (index) => writeFileSync(index, 'not a database '.repeat(1_000))],
    ['cut', (index) => writeFileSync(index, new Database(index, { readonly: true }).serialize().subarray(0, 5_000))],
    ['of another store', (index) => change(index, "UPDATE progress SET store_id = 'store-2'")],
    ['of another version', (index) => change(index, 'UPDATE progress SET version = 999')],
    ['without its place', (index) => change(index, 'DELETE FROM progress')],
    ['damaged where only a search sees it', (index) => change(index, 'DELETE FROM words_data WHERE id > 10')],
    ['damaged in its table of documents', (index) => change(index, 'DROP TABLE words_docsize')],
  ])('that is %s is made anew, and a search finds what it found before', async (_what, harm) => {
    const { home, index } = await anIndexedStore();
    harm(index);
    const storage = await opened(home);

    const page = await find(storage);

    expect([textsOf(page), page.behind]).toEqual([['a zebra crossing'], false]);
    expect(failures).toEqual([]);
  });

  test('that can’t be written holds up no append and no other read, and is there again when it can', async () => {
    const { home, index } = await anIndexedStore();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${index}${suffix}`, { force: true });
    mkdirSync(index);
    const indexFailures: unknown[] = [];
    const storage = await openWorkerStorage({ ...options(home), onIndexFailure: (error) => indexFailures.push(error) });
    onTestFinished(() => storage.close());
    const session = await (await TestOwner.takingOver(storage.ledger)).create('session-2');

    await session.turn('a', { answer: 'another zebra' });

    expect(await find(storage)).toEqual({ hits: [], next: null, behind: true });
    expect(await find(storage)).toEqual({ hits: [], next: null, behind: true });
    expect(indexFailures).toHaveLength(1); // told once, and not at each search
    expect((await storage.queries.findSession('session-2'))?.messageCount).toBe(2);
    rmSync(index, { recursive: true });
    await vi.waitFor(
      async () => {
        expect(textsOf(await find(storage))).toEqual(['another zebra', 'a zebra crossing']);
      },
      { timeout: 10_000 },
    );
    expect([existsSync(index), failures]).toEqual([true, []]);
  });
});

function change(index: string, sql: string): void {
  const db = new Database(index);
  db.unsafeMode(true);
  db.pragma('writable_schema = ON');
  db.exec(sql);
  db.close();
}
