import type { PromptPayload } from '../../../core/domain/admission/admission.ts';
import type {
  AnsweredBy,
  ContentPart,
  Message,
  MessageMeta,
  ToolCall,
} from '../../../core/domain/transcript/message.ts';
import type { WireMessage, WireShownPart } from '../../../protocol/message.ts';
import { usageToWire } from './receipt-to-wire.ts';
import { TextBudget } from './shown-text.ts';

/**
 * A message as it is shown. Each text in it has the limit, all together have three times as much; data of images and
 * files is only described.
 */
export function messageToWire(message: Message, maxBytes: number): WireMessage {
  const cutting = new Cutting(new TextBudget(maxBytes, 3 * maxBytes));
  const text = cutting.take(message.text);
  const parts = message.parts?.map((part) => partToWire(part, cutting));
  const toolCalls = message.toolCalls.map((call) => toolCallToWire(call, cutting));
  return {
    ...metaToWire(message),
    text,
    ...(parts === undefined ? {} : { parts }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    partial: message.partial,
    ...(cutting.happened ? { truncated: true as const } : {}),
    ...(message.usage === null ? {} : { usage: usageToWire(message.usage) }),
    ...(message.finishReason === null ? {} : { finish_reason: message.finishReason }),
    ...(message.answeredBy === undefined ? {} : { answered_by: answeredByToWire(message.answeredBy) }),
    at: message.at,
  };
}

/** The content of a prompt that is no message, or is none yet, shown as a message would be. */
export function promptToWire(
  { text, parts }: PromptPayload,
  budget: TextBudget,
): Pick<WireMessage, 'text' | 'parts' | 'truncated'> {
  const cutting = new Cutting(budget);
  const shown = cutting.take(text);
  const shownParts = parts?.map((part) => partToWire(part, cutting));
  return {
    text: shown,
    ...(shownParts === undefined ? {} : { parts: shownParts }),
    ...(cutting.happened ? { truncated: true as const } : {}),
  };
}

function answeredByToWire({ provider, model }: AnsweredBy): NonNullable<WireMessage['answered_by']> {
  return { provider, model };
}

/** A message whose content is not at hand. */
export function bareMessageToWire(message: MessageMeta, at: string): WireMessage {
  return { ...metaToWire(message), text: '', partial: false, truncated: true, at };
}

type MetaOnWire = Pick<WireMessage, 'id' | 'origin_id' | 'role' | 'kind' | 'tool_call_id' | 'admission_id' | 'tokens'>;

function metaToWire(message: MessageMeta): MetaOnWire {
  return {
    id: message.id,
    origin_id: message.originId,
    role: message.role,
    kind: message.kind,
    ...(message.toolCallId === null ? {} : { tool_call_id: message.toolCallId }),
    admission_id: message.admissionId,
    tokens: message.tokens,
  };
}

function partToWire(part: ContentPart, cutting: Cutting): WireShownPart {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: cutting.take(part.text) };
    case 'image':
      return { type: 'image', media_type: part.mediaType, bytes: decodedBytes(part.data) };
    case 'file':
      return {
        type: 'file',
        media_type: part.mediaType,
        bytes: decodedBytes(part.data),
        ...(part.name === null ? {} : { name: part.name }),
      };
  }
}

function toolCallToWire(call: ToolCall, cutting: Cutting): { id: string; name: string; arguments: string } {
  return { id: call.id, name: call.name, arguments: cutting.take(call.arguments) };
}

/** The size of what a base64 text stands for. */
function decodedBytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** A budget that remembers whether anything was cut. */
class Cutting {
  readonly #budget: TextBudget;
  happened = false;

  constructor(budget: TextBudget) {
    this.#budget = budget;
  }

  take(text: string): string {
    const shown = this.#budget.take(text);
    if (shown.truncated) this.happened = true;
    return shown.text;
  }
}
