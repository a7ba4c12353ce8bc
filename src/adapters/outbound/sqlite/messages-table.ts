import type Database from 'better-sqlite3';
import { invariant } from '../../../core/domain/invariant.ts';
import { charactersOf, pageOf } from '../../../core/domain/transcript/content-page.ts';
import type { Message, MessageMeta } from '../../../core/domain/transcript/message.ts';
import { messageColumns, messageFromRow, messageMetaColumns, messageToRow, metaFromRow } from './message-row.ts';
import type { MessageMetaRow, MessageRow } from './message-row.ts';

/** What a message of another session takes over from the one whose content it has. */
const contentColumns = `role, kind, tokens, tool_call_id, tool_call_ids, partial, finish_reason, usage, at, content,
  tool_calls, parts, answered_by`;

/** What a copy takes over from its origin unchanged. */
const copiedColumns = `origin_id, admission_id, ${contentColumns}`;

interface Copy {
  readonly to: number;
  readonly from: number;
  readonly transcript: string;
}

/** The messages of all transcripts. Rows are added, hidden, copied and, with their session, deleted; their content never changes. */
export class MessagesTable {
  readonly #insert: Database.Statement<[MessageRow & { readonly session_id: string }]>;
  readonly #copy: Database.Statement<[Copy]>;
  readonly #adopt: Database.Statement<[Copy]>;
  readonly #count: Database.Statement<[string], number>;
  readonly #hide: Database.Statement<[string]>;
  readonly #metas: Database.Statement<[string], MessageMetaRow>;
  readonly #metasByIds: Database.Statement<[string], MessageMetaRow>;
  readonly #byId: Database.Statement<[number], MessageRow>;
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
    this.#adopt = db.prepare(
      `INSERT INTO messages (id, origin_id, session_id, active, ${contentColumns})
       SELECT @to, @to, @transcript, 1, ${contentColumns} FROM messages WHERE id = @from`,
    );
    this.#count = db
      .prepare<[string], number>('SELECT count(*) FROM messages WHERE id IN (SELECT value FROM json_each(?))')
      .pluck();
    this.#hide = db.prepare(
      'UPDATE messages SET active = 0 WHERE id IN (SELECT value FROM json_each(?)) AND active = 1',
    );
    this.#metas = db.prepare(
      `SELECT ${messageMetaColumns} FROM messages WHERE session_id = ? AND active = 1 ORDER BY id`,
    );
    this.#metasByIds = db.prepare(
      `SELECT ${messageMetaColumns} FROM messages WHERE id IN (SELECT value FROM json_each(?))`,
    );
    this.#byId = db.prepare(`SELECT ${messageColumns} FROM messages WHERE id = ?`);
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
  copy(copy: Copy): boolean {
    return this.#copy.run(copy).changes === 1;
  }

  areThere(ids: readonly number[]): boolean {
    return ids.length === 0 || this.#count.get(JSON.stringify(ids)) === new Set(ids).size;
  }

  /** Makes a message of its own that says what the row `from` says. */
  adopt(copy: Copy): void {
    invariant(this.#adopt.run(copy).changes === 1, 'content is taken over from a message that is stored');
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

  byId(id: number): Message | null {
    const row = this.#byId.get(id);
    return row === undefined ? null : messageFromRow(row);
  }

  /** The first page of the active messages after an id, in order. */
  after(transcriptId: string, afterId: number): readonly Message[] {
    return pageOfMessages(this.#after.iterate(transcriptId, afterId), Infinity).messages;
  }

  /** The newest page of the active messages with an id below `before`, newest first. */
  before(transcriptId: string, before: number, limit: number): MessagePage {
    return pageOfMessages(this.#before.iterate(transcriptId, before, limit + 1), limit);
  }

  /** The highest id ever used, also by rows that are gone. */
  lastId(): number {
    return this.#lastId.get() ?? 0;
  }
}

export interface MessagePage {
  readonly messages: readonly Message[];
  readonly more: boolean;
}

/** Of rows that are read as they are asked for: what has no room is not read, but for the first of it. */
export function pageOfMessages(rows: Iterable<MessageRow>, limit: number): MessagePage {
  const { rows: messages, next } = pageOf(messagesFrom(rows), limit, charactersOf);
  return { messages, more: next !== null };
}

function* messagesFrom(rows: Iterable<MessageRow>): Iterable<Message> {
  for (const row of rows) yield messageFromRow(row);
}
