import type Database from 'better-sqlite3';
import type { SearchHit } from '../../../core/ports/session-queries.ts';
import { messageColumns, messageFromRow } from './message-row.ts';
import type { MessageRow } from './message-row.ts';
import { withStorageErrors } from './storage-errors.ts';

export interface ContentRow {
  readonly id: number;
  /** Null for a copy and for a summary. */
  readonly content: string | null;
  readonly session: number;
}

type HitRow = MessageRow & {
  readonly transcript: string;
  readonly root: string;
  readonly title: string | null;
};

/** What an index reads of the store. A failure here is one of the storage, not of the index. */
export class SearchReads {
  readonly #db: Database.Database;

  constructor(db: Database.Database) {
    this.#db = db;
  }

  storeId(): string {
    return this.#one<string>('SELECT store_id FROM runtime_epoch WHERE singleton = 1') ?? '';
  }

  commits(): number {
    return this.#one<number>('SELECT commits FROM runtime_epoch WHERE singleton = 1') ?? 0;
  }

  /** The number of a session's root row, or undefined where there is none. */
  numberOf(sessionId: string): number | undefined {
    return this.#one<number>('SELECT number FROM sessions WHERE id = ?', sessionId);
  }

  /** The messages from `first` to `last`, at most `limit` and about as many as hold so many bytes, but always one. */
  contentBetween(
    { first, last }: { readonly first: number; readonly last: number },
    { limit, bytes }: { readonly limit: number; readonly bytes: number },
  ): readonly ContentRow[] {
    // The length of a column is found without its content.
    const sizes = this.#all<{ readonly id: number; readonly bytes: number }>(
      'SELECT id, octet_length(content) AS bytes FROM messages WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?',
      first,
      last,
      limit,
    );
    let sum = 0;
    const end = sizes.findIndex((size) => (sum += size.bytes) > bytes);
    const newest = (end < 0 ? sizes.at(-1) : sizes[end])?.id;
    return newest === undefined
      ? []
      : this.#all<ContentRow>(`${selectContent} WHERE m.id BETWEEN ? AND ? ORDER BY m.id`, first, newest);
  }

  deletionsAfter(number: number): readonly { readonly number: number; readonly session: number }[] {
    return this.#all(
      `SELECT d.number, s.number AS session FROM session_deletions d JOIN sessions s ON s.id = d.session_id
       WHERE d.number > ? ORDER BY d.number`,
      number,
    );
  }

  /** Those of the messages that are there and the principal's, newest first, each read when it is asked for. */
  *hits(ids: readonly number[], principalId: string): Iterable<SearchHit> {
    const hits = this.#db.prepare<[string, string], HitRow>(selectHits);
    const rows = withStorageErrors(() => hits.iterate(JSON.stringify(ids), principalId));
    try {
      for (let next = withStorageErrors(() => rows.next()); !next.done; next = withStorageErrors(() => rows.next())) {
        const { root: sessionId, title, transcript: transcriptId } = next.value;
        yield { sessionId, title, transcriptId, message: messageFromRow(next.value) };
      }
    } finally {
      rows.return?.();
    }
  }

  #all<Row>(sql: string, ...given: readonly unknown[]): readonly Row[] {
    return withStorageErrors(() => this.#db.prepare<unknown[], Row>(sql).all(...given));
  }

  #one<Value>(sql: string, ...given: readonly unknown[]): Value | undefined {
    return withStorageErrors(() =>
      this.#db
        .prepare<unknown[], Value>(sql)
        .pluck()
        .get(...given),
    );
  }
}

const selectContent = `SELECT m.id, iif(m.id = m.origin_id AND m.kind <> 'summary', m.content, NULL) AS content,
  root.number AS session
  FROM messages m JOIN sessions s ON s.id = m.session_id JOIN sessions root ON root.id = s.root_session_id`;

const selectHits = `SELECT ${messageColumns.replaceAll(/\w+/g, 'm.$&')}, s.id AS transcript, root.id AS root, root.title
  FROM messages m JOIN sessions s ON s.id = m.session_id JOIN sessions root ON root.id = s.root_session_id
  WHERE m.id IN (SELECT value FROM json_each(?)) AND root.principal_id = ? ORDER BY m.id DESC`;
