/*
 * From our request to the SDK's prompt. Pure.
 *
 * R1: plain text goes out as a string: one text part, which the SDK sends as such. Many small servers take no lists.
 * R2: arguments that go out are always a JSON object, as the model wrote it where it is one.
 * R3: what a vendor gave to be handed back goes out again to that vendor, under the same keys, and to no other.
 * R4: ids and names of tool calls are legal for the one who reads them, and a call and its result have the same.
 */
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3TextPart,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import { isTextType } from '../../../core/domain/admission/unsupported-parts.ts';
import type { ContentPart, ProviderMetadata } from '../../../core/domain/transcript/message.ts';
import type { ModelRequest, RequestMessage, ToolSchema } from '../../../core/ports/model-provider.ts';
import { makeLegalCallIds } from './legal-call-ids.ts';
import { legalToolName } from './legal-tool-name.ts';
import type { ModelOptions } from './wire.ts';

/** What one wire takes of a conversation. */
export interface PromptProfile {
  /** Under which key the vendor's own metadata stands; null for a wire that has reasoning as plain text. */
  readonly vendor: 'anthropic' | 'google' | 'openai' | null;
  /** Whether a file of this type can go out as it is. */
  readonly carries: (mediaType: string) => boolean;
  /** Whether a metadata entry makes a part of reasoning fit to be handed back. */
  readonly needsOfReasoning: readonly string[];
  readonly legalCallId: RegExp;
  /** Whether arguments go out as the model wrote them, or as the object that they stand for. */
  readonly argumentsAs: 'text' | 'object';
}

type CallOptions = Pick<LanguageModelV3CallOptions, 'prompt' | 'tools' | 'maxOutputTokens'>;
type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'];
type UserContent = (LanguageModelV3TextPart | LanguageModelV3FilePart)[];

export function callOptions(
  request: ModelRequest,
  { temperature }: Pick<ModelOptions, 'temperature'>,
  profile: PromptProfile,
): CallOptions {
  const conversion: Conversion = { profile, callId: makeLegalCallIds(profile.legalCallId) };
  const system: LanguageModelV3Message[] = isFilled(request.system)
    ? [{ role: 'system', content: request.system }]
    : [];
  return {
    prompt: [...system, ...promptMessages(request.messages, conversion)],
    ...(request.tools.length > 0 && { tools: request.tools.map(functionTool) }),
    ...(request.maxOutputTokens !== null && { maxOutputTokens: request.maxOutputTokens }),
    ...(temperature !== null && { temperature }),
  };
}

interface Conversion {
  readonly profile: PromptProfile;
  readonly callId: (id: string) => string;
}

/** The results of one batch go out as one message: some vendors take no two of the user's in a row. */
function promptMessages(messages: readonly RequestMessage[], conversion: Conversion): LanguageModelV3Message[] {
  const prompt: LanguageModelV3Message[] = [];
  for (const message of messages) {
    const converted = promptMessage(message, conversion);
    const last = prompt.at(-1);
    if (converted.role === 'tool' && last?.role === 'tool') last.content.push(...converted.content);
    else prompt.push(converted);
  }
  return prompt;
}

function promptMessage(message: RequestMessage, conversion: Conversion): LanguageModelV3Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: userContent(message.text, message.parts ?? [], conversion.profile) };
    case 'assistant':
      return { role: 'assistant', content: assistantContent(message, conversion) };
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: conversion.callId(message.toolCallId),
            toolName: legalToolName(message.toolName),
            output: { type: 'text', value: message.text },
          },
        ],
      };
  }
}

function userContent(text: string, parts: readonly ContentPart[], profile: PromptProfile): UserContent {
  // What most messages are: the lists below would be three quarters of the cost of a long transcript's conversion.
  if (parts.length === 0) return [{ type: 'text', text }];
  // A message's text repeats the text parts that it was made from, so it only counts where there are none.
  const hasTextParts = parts.some((part) => part.type === 'text');
  const own: UserContent = text !== '' && !hasTextParts ? [{ type: 'text', text }] : [];
  const content = [...own, ...parts.flatMap((part) => userPart(part, profile))];
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === content.length ? [{ type: 'text', text: texts.join('\n\n') }] : content;
}

function userPart(part: ContentPart, profile: PromptProfile): UserContent {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning':
      return [];
    case 'image':
      return [filePart(part.mediaType, part.data, null, profile)];
    case 'file':
      return [filePart(part.mediaType, part.data, part.name, profile)];
  }
}

/** What the wire can carry; of everything else the model hears that it was there. */
function filePart(
  mediaType: string,
  data: string,
  name: string | null,
  profile: PromptProfile,
): LanguageModelV3TextPart | LanguageModelV3FilePart {
  const type = mediaType.toLowerCase();
  const label = name ?? 'file';
  if (isTextType(type)) {
    return { type: 'text', text: `[${label}, ${type}]\n${Buffer.from(data, 'base64').toString('utf8')}` };
  }
  if (profile.carries(type)) {
    return { type: 'file', mediaType: type, data, ...(name !== null && { filename: name }) };
  }
  return { type: 'text', text: `[${label}, ${type}: this kind of file can't be sent to the model]` };
}

type AssistantMessage = Extract<RequestMessage, { role: 'assistant' }>;

function assistantContent(message: AssistantMessage, { profile, callId }: Conversion): AssistantContent {
  const calls = message.toolCalls.map((call) => ({
    type: 'tool-call' as const,
    toolCallId: callId(call.id),
    toolName: legalToolName(call.name),
    input: profile.argumentsAs === 'text' ? sendableArguments(call.arguments) : argumentsObject(call.arguments),
    ...optionsOf(call, profile),
  }));
  return [...spokenContent(message, profile), ...calls];
}

/** Texts and reasoning. Where the parts hold the whole text, their order counts: a signature covers what is around it. */
function spokenContent({ text, parts }: AssistantMessage, profile: PromptProfile): AssistantContent {
  const given = (parts ?? []).filter((part) => part.type === 'text' || part.type === 'reasoning');
  const hasWholeText = given.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('') === text;
  const own = hasWholeText || text.trim() === '' ? [] : [{ type: 'text' as const, text }];
  const kept = given.flatMap((part) => {
    if (part.type === 'reasoning' && !takesReasoning(part.providerMetadata, profile)) return [];
    if (part.type === 'text' && (part.text.trim() === '' || own.length > 0)) return [];
    return [{ type: part.type, text: part.text, ...optionsOf(part, profile) }];
  });
  return [...kept, ...own];
}

function takesReasoning(metadata: ProviderMetadata | undefined, profile: PromptProfile): boolean {
  if (profile.vendor === null) return metadata === undefined;
  const fields = metadata?.[profile.vendor];
  return fields !== undefined && profile.needsOfReasoning.some((field) => field in fields);
}

/**
 * The model's own text of the arguments where it is a JSON object, so that a provider's prompt cache still knows it. The
 * SDK turns a text that names a prototype into a string; the object itself it takes as it is.
 */
function sendableArguments(text: string): unknown {
  const value = parsed(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return /__proto__|constructor/.test(text) ? value : text;
  return text.trim() === '' ? '{}' : JSON.stringify({ unreadable_arguments: text.slice(0, maxUnreadableCharacters) });
}

const maxUnreadableCharacters = 2000;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function argumentsObject(text: string): unknown {
  const sendable = sendableArguments(text);
  return typeof sendable === 'string' ? parsed(sendable) : sendable;
}

function optionsOf(
  part: { readonly providerMetadata?: ProviderMetadata },
  { vendor }: PromptProfile,
): { providerOptions?: SharedV3ProviderOptions } {
  const { providerMetadata } = part;
  if (providerMetadata === undefined) return {};
  // Gemini speaks both its own wire and OpenAI's, and wants its signatures back on either.
  const own = providerMetadata[vendor ?? 'google'];
  // What is JSON on its way in and out of the store is JSON here.
  return own === undefined ? {} : { providerOptions: { [vendor ?? 'google']: own } as SharedV3ProviderOptions };
}

function functionTool(tool: ToolSchema): LanguageModelV3FunctionTool {
  return { type: 'function', name: tool.name, description: tool.description, inputSchema: tool.parameters };
}

function isFilled(text: string | null): text is string {
  return text !== null && text !== '';
}
