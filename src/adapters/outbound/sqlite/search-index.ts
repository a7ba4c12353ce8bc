/*
 * The words of all messages, in a file of its own beside the store. Its border: it reads the store like anybody else and
 * writes nothing there, so no append, no start and no backup knows of it.
 *
 * X1: all of it can be lost: what is missing, damaged, of another store or of another version is made anew.
 * X2: where it has come to is stored in the same transaction as the words, so that a kill costs nothing but the rest.
 * X3: a hit counts only if the store still has the message: an index that is behind never shows what was deleted.
 * X4: ids of messages are given out before they are stored, so that a lower one may be stored later: what was skipped is
 *     looked at again until no append that has its number can still be on its way.
 */
import { chmodSync, closeSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { charactersOf, pageOf } from '../../../core/domain/transcript/content-page.ts';
import { wordsOf } from '../../../core/domain/search/terms.ts';
import type { SearchTerms } from '../../../core/domain/search/terms.ts';
import type { SearchHit, SearchPage, SessionQueries } from '../../../core/ports/session-queries.ts';
import { SearchReads } from './search-reads.ts';
import type { ContentRow } from './search-reads.ts';

export type SearchQuery = Parameters<SessionQueries['search']>[0];

/** Another number makes every index anew. */
const indexVersion = 1;

const schema = `
  CREATE TABLE progress (
    singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
    version INTEGER NOT NULL,
    store_id TEXT NOT NULL,
    message_id INTEGER NOT NULL, -- everything up to it is indexed, but for the gaps
    deletion INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE gaps (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, commits INTEGER NOT NULL) STRICT;
  -- The words come separated by spaces, folded and cut by our own rules, so that the tokenizer has nothing to decide.
  CREATE VIRTUAL TABLE words USING fts5 (scope, content, content = '', contentless_delete = 1, tokenize = 'ascii');
`;

/** What is read of the messages at a time, and indexed in one transaction. */
const batch = { limit: 200, bytes: 2_000_000 };
/** Appends are written in the order in which they were called, so a number that is so far behind is never used. */
const maxCommitsOnTheWay = 1_000;
/** Hits that are looked up in the store before a page ends without being full. */
const maxLookedUp = 5_000;

interface Progress {
  readonly version: number;
  readonly store_id: string;
  readonly message_id: number;
  readonly deletion: number;
}

export class SearchIndex {
  readonly #path: string;
  readonly #store: SearchReads;
  #index: Database.Database | null = null;

  /** `store` is a connection that reads; it stays the caller's. */
  constructor(home: string, store: Database.Database) {
    this.#path = join(home, 'search.db');
    this.#store = new SearchReads(store);
  }

  /** Indexes what is new until `deadline`, in milliseconds of `Date.now()`. Says whether nothing is left. */
  follow(deadline: number): boolean {
    return this.#withIndex((index) => this.#catchUp(index, deadline));
  }

  search(query: SearchQuery, deadline: number): SearchPage {
    if (query.terms.phrases.length === 0) return { hits: [], next: null, behind: false };
    const scope = query.sessionId === null ? null : this.#store.numberOf(query.sessionId);
    if (scope === undefined) return { hits: [], next: null, behind: false };
    // As one piece of work: an index whose damage only the search meets is made anew, and that one is behind.
    return this.#withIndex((index) => {
      const behind = !this.#catchUp(index, deadline);
      return { ...this.#page(index, query, scope), behind };
    });
  }

  close(): void {
    this.#index?.close();
    this.#index = null;
  }

  #catchUp(index: Database.Database, deadline: number): boolean {
    this.#forgetDeleted(index);
    this.#fillGaps(index);
    while (this.#indexBatch(index)) if (Date.now() >= deadline) return false;
    return true;
  }

  #page(index: Database.Database, query: SearchQuery, scope: number | null): Omit<SearchPage, 'behind'> {
    const find = index
      .prepare<[string, number, number], number>(
        'SELECT rowid FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?',
      )
      .pluck();
    const match = matchOf(query.terms, scope);
    let before = query.before ?? Number.MAX_SAFE_INTEGER;
    let isEnd = false;
    const found = function* (store: SearchReads): Iterable<SearchHit> {
      for (let lookedUp = 0; lookedUp < maxLookedUp && !isEnd;) {
        const ids = find.all(match, before, query.limit + 1);
        lookedUp += ids.length;
        yield* store.hits(ids, query.principalId);
        before = ids.at(-1) ?? before;
        isEnd = ids.length <= query.limit;
      }
    };
    const { rows: hits, next } = pageOf(found(this.#store), query.limit, ({ message }) => charactersOf(message));
    if (next !== null) return { hits, next: hits.at(-1)?.message.id ?? null };
    return { hits, next: isEnd ? null : before };
  }

  #indexBatch(index: Database.Database): boolean {
    const { message_id: position, deletion } = progressOf(index);
    const rows = this.#store.contentBetween({ first: position + 1, last: Number.MAX_SAFE_INTEGER }, batch);
    if (rows.length === 0) return false;
    const commits = this.#store.commits();
    const write = index.transaction(() => {
      let last = position;
      for (const row of rows) {
        if (row.id > last + 1) {
          index.prepare('INSERT INTO gaps (first, last, commits) VALUES (?, ?, ?)').run(last + 1, row.id - 1, commits);
        }
        insertWords(index, row);
        last = row.id;
      }
      setProgress(index, { message_id: last, deletion });
    });
    write();
    return true;
  }

  /** X4. A gap that was looked at late enough for the last time is forgotten. */
  #fillGaps(index: Database.Database): void {
    const commits = this.#store.commits();
    const gaps = index.prepare<[], { first: number; last: number; commits: number }>('SELECT * FROM gaps').all();
    for (const gap of gaps) {
      const fill = index.transaction(() => {
        for (const row of this.#contentOf(gap)) insertWords(index, row);
        if (commits - gap.commits > maxCommitsOnTheWay)
          index.prepare('DELETE FROM gaps WHERE first = ?').run(gap.first);
      });
      fill();
    }
  }

  *#contentOf({ first, last }: { readonly first: number; readonly last: number }): Iterable<ContentRow> {
    for (let from = first; from <= last;) {
      const rows = this.#store.contentBetween({ first: from, last }, batch);
      yield* rows;
      from = (rows.at(-1)?.id ?? last) + 1;
    }
  }

  #forgetDeleted(index: Database.Database): void {
    const { message_id, deletion } = progressOf(index);
    for (const { number, session } of this.#store.deletionsAfter(deletion)) {
      const forget = index.transaction(() => {
        index
          .prepare('DELETE FROM words WHERE rowid IN (SELECT rowid FROM words WHERE words MATCH ?)')
          .run(`scope : "${scopeOf(session)}"`);
        setProgress(index, { message_id, deletion: number });
      });
      forget();
    }
  }

  /** Runs on the index as it is, and once more on a new one when that one is of no use (X1). */
  #withIndex<T>(work: (index: Database.Database) => T): T {
    try {
      return work((this.#index ??= this.#open()));
    } catch (error) {
      if (!isOfTheIndex(error)) throw error;
      this.#remove();
      return work((this.#index = this.#open()));
    }
  }

  #open(): Database.Database {
    const existing = openFile(this.#path);
    if (isUsable(existing, this.#store.storeId())) return existing;
    existing.close();
    this.#remove();
    const index = openFile(this.#path);
    index.transaction(() => {
      index.exec(schema);
      index
        .prepare('INSERT INTO progress (singleton, version, store_id, message_id, deletion) VALUES (1, ?, ?, 0, 0)')
        .run(indexVersion, this.#store.storeId());
    })();
    return index;
  }

  #remove(): void {
    try {
      this.close();
    } catch {
      // What can't be closed properly is removed all the same.
    }
    this.#index = null;
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${this.#path}${suffix}`, { force: true });
  }
}

/** Only terms that were cut by our own rules get here, in quotes: nothing of a query is syntax. */
function matchOf({ phrases }: SearchTerms, scope: number | null): string {
  const terms = phrases.map(({ words, isPrefix }) => `"${words.join(' ')}"${isPrefix ? ' *' : ''}`);
  const content = `content : (${terms.join(' AND ')})`;
  return scope === null ? content : `scope : "${scopeOf(scope)}" AND ${content}`;
}

function scopeOf(session: number): string {
  return `s${String(session)}`;
}

function insertWords(index: Database.Database, { id, content, session }: ContentRow): void {
  if (content === null) return;
  index
    .prepare('INSERT OR REPLACE INTO words (rowid, scope, content) VALUES (?, ?, ?)')
    .run(id, scopeOf(session), wordsOf(content).join(' '));
}

function progressOf(index: Database.Database): Progress {
  const row = index.prepare<[], Progress>('SELECT * FROM progress').get();
  if (row === undefined) throw new UselessIndex('The index does not say where it is');
  return row;
}

function setProgress(index: Database.Database, at: { readonly message_id: number; readonly deletion: number }): void {
  index.prepare('UPDATE progress SET message_id = @message_id, deletion = @deletion').run(at);
}

class UselessIndex extends Error {
  override readonly name = 'UselessIndex';
}

function isOfTheIndex(error: unknown): boolean {
  return error instanceof UselessIndex || error instanceof Database.SqliteError;
}

/** The file, created for its owner only, or closed to others. What it holds is not known yet. */
function openFile(path: string): Database.Database {
  closeSync(openSync(path, 'a', 0o600));
  for (const suffix of ['', '-wal', '-shm']) {
    const mode = statSync(path + suffix, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o077) !== 0) chmodSync(path + suffix, mode & 0o700);
  }
  const index = new Database(path, { timeout: 1_000 });
  try {
    index.pragma('journal_mode = WAL');
    index.pragma('synchronous = NORMAL');
    index.pragma('journal_size_limit = 4194304');
  } catch {
    // No database at all: the look at its version finds that too.
  }
  return index;
}

function isUsable(index: Database.Database, storeId: string): boolean {
  try {
    const { version, store_id } = progressOf(index);
    return version === indexVersion && store_id === storeId;
  } catch {
    return false;
  }
}
