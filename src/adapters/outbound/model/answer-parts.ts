import type { LanguageModelV3StreamPart, SharedV3ProviderMetadata } from '@ai-sdk/provider';
import type { ContentPart, ProviderMetadata, ToolCall } from '../../../core/domain/transcript/message.ts';

interface Block {
  readonly type: 'text' | 'reasoning';
  text: string;
  metadata: ProviderMetadata | null;
}

interface BlockPiece {
  readonly id: string;
  readonly providerMetadata?: SharedV3ProviderMetadata;
}

/** Gathers what the SDK's parts make of an answer: its texts and reasoning in their order, and its tool calls. */
export class AnswerParts {
  readonly #vendor: string | null;
  readonly #blocks = new Map<string, Block>();
  readonly #calls: ToolCall[] = [];

  /** `vendor` is the key under which all reasoning is stored, so that nobody else is ever sent it. */
  constructor(vendor: string | null) {
    this.#vendor = vendor;
  }

  take(part: LanguageModelV3StreamPart): void {
    if (part.type === 'tool-call') this.#takeCall(part);
    else if (part.type === 'text-delta') this.#add('text', part, part.delta);
    else if (part.type === 'text-start' || part.type === 'text-end') this.#add('text', part, '');
    else if (part.type === 'reasoning-delta') this.#add('reasoning', part, part.delta);
    else if (part.type === 'reasoning-start' || part.type === 'reasoning-end') this.#add('reasoning', part, '');
  }

  /** The calls in their order, each with an id that the conversation doesn't hold yet. */
  calls(takenIds: ReadonlySet<string>, newId: () => string): readonly ToolCall[] {
    const used = new Set(takenIds);
    return this.#calls.map((call) => {
      const id = call.id === '' || used.has(call.id) ? newId() : call.id;
      used.add(id);
      return { ...call, id };
    });
  }

  /** Texts and reasoning in their order; null where the answer is nothing but text. */
  contentParts(): readonly ContentPart[] | null {
    const parts = [...this.#blocks.values()]
      .filter(({ text, metadata }) => text !== '' || Object.values(metadata ?? {}).some(isFilled))
      .map(({ type, text, metadata }): ContentPart => ({
        type,
        text,
        ...metadataField(metadata),
      }));
    const isPlain = parts.every((part) => part.type === 'text' && part.providerMetadata === undefined);
    return isPlain ? null : parts;
  }

  #own(type: Block['type']): ProviderMetadata | null {
    return type === 'reasoning' && this.#vendor !== null ? { [this.#vendor]: {} } : null;
  }

  #takeCall(part: Extract<LanguageModelV3StreamPart, { type: 'tool-call' }>): void {
    this.#calls.push({
      id: part.toolCallId,
      name: part.toolName,
      arguments: part.input,
      ...metadataField(handedBack('call', part.providerMetadata)),
    });
  }

  #add(type: Block['type'], part: BlockPiece, text: string): void {
    const key = `${type} ${part.id}`;
    const block = this.#blocks.get(key) ?? { type, text: '', metadata: this.#own(type) };
    this.#blocks.set(key, block);
    block.text += text;
    block.metadata = merged(block.metadata, handedBack(type, part.providerMetadata));
  }
}

/** A signature comes with one of several pieces; the last word about each field counts. */
function merged(earlier: ProviderMetadata | null, later: ProviderMetadata | null): ProviderMetadata | null {
  if (earlier === null || later === null) return earlier ?? later;
  const vendors = new Set([...Object.keys(earlier), ...Object.keys(later)]);
  return Object.fromEntries([...vendors].map((vendor) => [vendor, { ...earlier[vendor], ...later[vendor] }]));
}

/** The fields that a vendor wants back word for word, by what they are attached to. Everything else is only news. */
const handedBackFields: Readonly<Record<string, Readonly<Partial<Record<Block['type'] | 'call', readonly string[]>>>>> =
  {
    anthropic: { reasoning: ['signature', 'redactedData'] },
    google: { reasoning: ['thoughtSignature'], text: ['thoughtSignature'], call: ['thoughtSignature'] },
    openai: { reasoning: ['itemId', 'reasoningEncryptedContent'] },
  };

function handedBack(
  type: Block['type'] | 'call',
  metadata: SharedV3ProviderMetadata | undefined,
): ProviderMetadata | null {
  const vendors = Object.entries(metadata ?? {}).flatMap(([vendor, fields]) => {
    const wanted = handedBackFields[vendor]?.[type] ?? [];
    const kept = Object.entries(fields).filter(([name, value]) => wanted.includes(name) && typeof value === 'string');
    return kept.length === 0 ? [] : [[vendor, Object.fromEntries(kept)] as const];
  });
  return vendors.length === 0 ? null : Object.fromEntries(vendors);
}

function isFilled(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(fields).length > 0;
}

function metadataField(metadata: ProviderMetadata | null): { readonly providerMetadata?: ProviderMetadata } {
  return metadata === null ? {} : { providerMetadata: metadata };
}
