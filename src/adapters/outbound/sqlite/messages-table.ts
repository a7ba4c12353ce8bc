import type Database from 'better-sqlite3';
import type { Message, MessageMeta } from '../../../core/domain/transcript/message.ts';
import { messageColumns, messageFromRow, messageMetaColumns, messageToRow, metaFromRow } from './message-row.ts';
import type { MessageMetaRow, MessageRow } from './message-row.ts';

/** What a copy takes over from its origin unchanged. */
const copiedColumns = `origin_id, role, kind, tokens, admission_id, tool_call_id, tool_call_ids, partial, finish_reason,
  usage, at, content, tool_calls, parts, answered_by`;

/** The messages of all transcripts. Rows are added, hidden, copied and, with their session, deleted; their content never changes. */
export class MessagesTable {
  readonly #insert: Database.Statement<[MessageRow & { readonly session_id: string }]>;
  readonly #copy: Database.Statement<[{ readonly to: number; readonly from: number; readonly transcript: string }]>;
  readonly #hide: Database.Statement<[string]>;
  readonly #metas: Database.Statement<[string], MessageMetaRow>;
  readonly #metasByIds: Database.Statement<[string], MessageMetaRow>;
  readonly #byIds: Database.Statement<[string], MessageRow>;
  readonly #after: Database.Statement<[string, number], MessageRow>;
  readonly #before: Database.Statement<[string, number, number], MessageRow>;
  readonly #delete: Database.Statement<[string]>;
  readonly #lastId: Database.Statement<[], number | null>;

  constructor(db: Database.Database) {
    this.#insert = db.prepare(
      `INSERT INTO messages (session_id, active, ${messageColumns}) VALUES (@session_id, 1, @id, @origin_id, @role,
         @kind, @tokens, @admission_id, @tool_call_id, @tool_call_ids, @partial, @finish_reason, @usage, @at, @content,
         @tool_calls, @parts, @answered_by)`,
    );
    this.#copy = db.prepare(
      `INSERT INTO messages (id, session_id, active, ${copiedColumns})
       SELECT @to, @transcript, 1, ${copiedColumns} FROM messages WHERE id = @from`,
    );
    this.#hide = db.prepare(
      'UPDATE messages SET active = 0 WHERE id IN (SELECT value FROM json_each(?)) AND active = 1',
    );
    this.#metas = db.prepare(
      `SELECT ${messageMetaColumns} FROM messages WHERE session_id = ? AND active = 1 ORDER BY id`,
    );
    this.#metasByIds = db.prepare(
      `SELECT ${messageMetaColumns} FROM messages WHERE id IN (SELECT value FROM json_each(?))`,
    );
    this.#byIds = db.prepare(`SELECT ${messageColumns} FROM messages WHERE id IN (SELECT value FROM json_each(?))`);
    this.#after = db.prepare(
      `SELECT ${messageColumns} FROM messages WHERE session_id = ? AND active = 1 AND id > ? ORDER BY id`,
    );
    this.#before = db.prepare(
      `SELECT ${messageColumns} FROM messages WHERE session_id = ? AND active = 1 AND id < ? ORDER BY id DESC LIMIT ?`,
    );
    this.#delete = db.prepare('DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?))');
    this.#lastId = db.prepare<[], number | null>(`SELECT seq FROM sqlite_sequence WHERE name = 'messages'`).pluck();
  }

  insert(transcriptId: string, message: Message): void {
    this.#insert.run({ ...messageToRow(message), session_id: transcriptId });
  }

  /** Copies the row `from` into a transcript, or says that there is none. */
  copy(copy: { readonly from: number; readonly to: number; readonly transcript: string }): boolean {
    return this.#copy.run(copy).changes === 1;
  }

  /** Takes messages out of their transcript and says how many were in it. */
  hide(ids: readonly number[]): number {
    return ids.length === 0 ? 0 : this.#hide.run(JSON.stringify(ids)).changes;
  }

  delete(ids: readonly number[]): void {
    this.#delete.run(JSON.stringify(ids));
  }

  /** The active messages of a transcript, in order. */
  metas(transcriptId: string): readonly MessageMeta[] {
    return this.#metas.all(transcriptId).map(metaFromRow);
  }

  metasByIds(ids: readonly number[]): readonly MessageMeta[] {
    return ids.length === 0 ? [] : this.#metasByIds.all(JSON.stringify(ids)).map(metaFromRow);
  }

  byIds(ids: readonly number[]): readonly Message[] {
    return ids.length === 0 ? [] : this.#byIds.all(JSON.stringify(ids)).map(messageFromRow);
  }

  after(transcriptId: string, afterId: number): readonly Message[] {
    return this.#after.all(transcriptId, afterId).map(messageFromRow);
  }

  /** The newest `limit` active messages with an id below `before`, newest first. */
  before(transcriptId: string, before: number, limit: number): readonly Message[] {
    return this.#before.all(transcriptId, before, limit).map(messageFromRow);
  }

  /** The highest id ever used, also by rows that are gone. */
  lastId(): number {
    return this.#lastId.get() ?? 0;
  }
}
