import type { AnsweredBy, Message, MessageKind, MessageMeta, Role } from '../../../core/domain/transcript/message.ts';
import { fromJson, fromJsonList, toJson, toJsonList } from './json-column.ts';

/** A row of `messages` without its large columns. */
export interface MessageMetaRow {
  readonly id: number;
  readonly origin_id: number;
  readonly role: string;
  readonly kind: string;
  readonly tokens: number;
  readonly admission_id: string | null;
  readonly tool_call_id: string | null;
  readonly tool_call_ids: string | null;
}

export interface MessageRow extends MessageMetaRow {
  readonly partial: number;
  readonly finish_reason: string | null;
  readonly usage: string | null;
  readonly at: string;
  readonly content: string;
  readonly tool_calls: string | null;
  readonly parts: string | null;
  readonly answered_by: string | null;
}

export const messageMetaColumns = 'id, origin_id, role, kind, tokens, admission_id, tool_call_id, tool_call_ids';
export const messageColumns = `${messageMetaColumns}, partial, finish_reason, usage, at, content, tool_calls, parts,
  answered_by`;

export function metaFromRow(row: MessageMetaRow): MessageMeta {
  return {
    id: row.id,
    originId: row.origin_id,
    role: row.role as Role, // written by `messageToRow`, like the kind
    kind: row.kind as MessageKind,
    tokens: row.tokens,
    admissionId: row.admission_id,
    toolCallIds: fromJsonList(row.tool_call_ids),
    toolCallId: row.tool_call_id,
  };
}

export function messageFromRow(row: MessageRow): Message {
  const answeredBy = fromJson<Omit<AnsweredBy, 'baseUrl'> & Partial<AnsweredBy>>(row.answered_by);
  return {
    ...metaFromRow(row),
    text: row.content,
    parts: fromJson(row.parts),
    toolCalls: fromJsonList(row.tool_calls),
    partial: row.partial === 1,
    usage: fromJson(row.usage),
    finishReason: row.finish_reason,
    ...(answeredBy !== null && { answeredBy: { baseUrl: null, ...answeredBy } }),
    at: row.at,
  };
}

export function messageToRow(message: Message): MessageRow {
  return {
    id: message.id,
    origin_id: message.originId,
    role: message.role,
    kind: message.kind,
    tokens: message.tokens,
    admission_id: message.admissionId,
    tool_call_id: message.toolCallId,
    tool_call_ids: toJsonList(message.toolCallIds),
    partial: message.partial ? 1 : 0,
    finish_reason: message.finishReason,
    usage: toJson(message.usage),
    at: message.at,
    content: message.text,
    tool_calls: toJsonList(message.toolCalls),
    parts: toJson(message.parts),
    answered_by: toJson(message.answeredBy ?? null),
  };
}
