import type { Usage } from '../model/usage.ts';

export type Role = 'user' | 'assistant' | 'tool';

/**
 * What a message is for. `prompt` is an admission's user message, `answer` a model's output (with or without tool
 * calls), `steer` what an admission has added to a turn that ran, `tool` a tool's result, `summary` what a compression put in place of a middle, `note` a short line of the
 * gateway itself that closes a broken turn.
 */
export type MessageKind = 'prompt' | 'steer' | 'answer' | 'tool' | 'summary' | 'note';

/** A part of a message that is more than plain text. Data is base64; a part is never interpreted by the core. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | { readonly type: 'reasoning'; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'file'; readonly mediaType: string; readonly data: string; readonly name: string | null };

/** What a provider wants back word for word with a later request (signatures of reasoning, for instance). */
export type ProviderMetadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The model that gave an answer. What it wants handed back is for it alone. */
export interface AnsweredBy {
  readonly provider: string;
  readonly model: string;
  /** Null: the provider's own address, or that of an answer from before addresses were kept. */
  readonly baseUrl: string | null;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments exactly as the model wrote them: JSON text if all went well. */
  readonly arguments: string;
  readonly providerMetadata?: ProviderMetadata;
}

/** What the decider keeps of a message: enough to plan, count and pair, and no content. */
export interface MessageMeta {
  /** Grows within a session, in transcript order. */
  readonly id: number;
  /** The id of the first message of which this one is a copy; its own id when it is no copy. */
  readonly originId: number;
  readonly role: Role;
  readonly kind: MessageKind;
  /** The local token count, taken once, when the message was stored. */
  readonly tokens: number;
  /** The admission in whose turn the message was stored, or null for a summary. */
  readonly admissionId: string | null;
  /** The calls that an assistant message asks for. */
  readonly toolCallIds: readonly string[];
  /** The call that a tool message answers. */
  readonly toolCallId: string | null;
}

/** A message with its content, as it is stored. */
export interface Message extends MessageMeta {
  readonly text: string;
  /** Only where there is more than text. */
  readonly parts: readonly ContentPart[] | null;
  readonly toolCalls: readonly ToolCall[];
  /** True for an answer that was not finished. */
  readonly partial: boolean;
  readonly usage: Usage | null;
  readonly finishReason: string | null;
  /** Only on what a model wrote. */
  readonly answeredBy?: AnsweredBy;
  readonly at: string;
}

/** A message before it is stored: the decider gives it an id and an instant. */
export type MessageDraft = Omit<Message, 'id' | 'originId' | 'at' | 'toolCallIds'>;

export function metaOf(message: MessageMeta): MessageMeta {
  return {
    id: message.id,
    originId: message.originId,
    role: message.role,
    kind: message.kind,
    tokens: message.tokens,
    admissionId: message.admissionId,
    toolCallIds: message.toolCallIds,
    toolCallId: message.toolCallId,
  };
}

/** Gives a draft its identity. */
export function messageFrom(draft: MessageDraft, id: number, at: string): Message {
  return { ...draft, id, originId: id, at, toolCallIds: draft.toolCalls.map((call) => call.id) };
}

/** A plain text message with every optional field at its neutral value. */
export function textDraft(
  fields: Pick<MessageDraft, 'role' | 'kind' | 'text' | 'tokens' | 'admissionId'>,
): MessageDraft {
  return {
    ...fields,
    parts: null,
    toolCalls: [],
    toolCallId: null,
    partial: false,
    usage: null,
    finishReason: null,
  };
}
