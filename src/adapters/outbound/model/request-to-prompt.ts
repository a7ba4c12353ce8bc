/*
 * From our request to the SDK's prompt. Pure.
 *
 * R1: plain text goes out as a string: one text part, which the SDK sends as such. Many small servers take no lists.
 * R2: arguments that go out are always a JSON object, as the model wrote it where it is one.
 * R3: what the provider gave back as metadata goes out again under the same keys.
 */
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3TextPart,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import type { ContentPart, ProviderMetadata, ToolCall } from '../../../core/domain/transcript/message.ts';
import type { ModelRequest, RequestMessage, ToolSchema } from '../../../core/ports/model-provider.ts';

type CallOptions = Pick<LanguageModelV3CallOptions, 'prompt' | 'tools' | 'maxOutputTokens'>;
type AssistantContent = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'];
type UserContent = (LanguageModelV3TextPart | LanguageModelV3FilePart)[];

export function callOptions(request: ModelRequest): CallOptions {
  const system: LanguageModelV3Message[] = isFilled(request.system)
    ? [{ role: 'system', content: request.system }]
    : [];
  return {
    prompt: [...system, ...request.messages.map(promptMessage)],
    ...(request.tools.length > 0 && { tools: request.tools.map(functionTool) }),
    ...(request.maxOutputTokens !== null && { maxOutputTokens: request.maxOutputTokens }),
  };
}

function promptMessage(message: RequestMessage): LanguageModelV3Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: userContent(message.text, message.parts ?? []) };
    case 'assistant':
      return { role: 'assistant', content: assistantContent(message.text, message.parts ?? [], message.toolCalls) };
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: message.toolCallId,
            toolName: message.toolName,
            output: { type: 'text', value: message.text },
          },
        ],
      };
  }
}

function userContent(text: string, parts: readonly ContentPart[]): UserContent {
  // A message's text repeats the text parts that it was made from, so it only counts where there are none.
  const hasTextParts = parts.some((part) => part.type === 'text');
  const own: UserContent = text !== '' && !hasTextParts ? [{ type: 'text', text }] : [];
  const content = [...own, ...parts.flatMap(userPart)];
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === content.length ? [{ type: 'text', text: texts.join('\n\n') }] : content;
}

function userPart(part: ContentPart): UserContent {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning':
      return [];
    case 'image':
      return [filePart(part.mediaType, part.data, null)];
    case 'file':
      return [filePart(part.mediaType, part.data, part.name)];
  }
}

/** What an OpenAI-compatible wire can carry; of everything else the model hears that it was there. */
function filePart(
  mediaType: string,
  data: string,
  name: string | null,
): LanguageModelV3TextPart | LanguageModelV3FilePart {
  const type = mediaType.toLowerCase();
  const label = name ?? 'file';
  if (type.startsWith('text/') || textTypes.test(type)) {
    return { type: 'text', text: `[${label}, ${type}]\n${Buffer.from(data, 'base64').toString('utf8')}` };
  }
  if (type.startsWith('image/') || carriedTypes.includes(type)) {
    return { type: 'file', mediaType: type, data, ...(name !== null && { filename: name }) };
  }
  return { type: 'text', text: `[${label}, ${type}: this kind of file can't be sent to the model]` };
}

const textTypes = /^application\/(?:json|xml|yaml|x-yaml|toml|javascript|typescript|x-sh|sql)$|\+(?:json|xml)$/;
const carriedTypes: readonly string[] = ['application/pdf', 'audio/wav', 'audio/mp3', 'audio/mpeg'];

function assistantContent(
  text: string,
  parts: readonly ContentPart[],
  toolCalls: readonly ToolCall[],
): AssistantContent {
  const reasoning = parts.flatMap((part) =>
    part.type === 'reasoning' ? [{ type: 'reasoning' as const, text: part.text, ...optionsOf(part) }] : [],
  );
  const ownTexts = parts.flatMap((part) =>
    part.type === 'text' ? [{ type: 'text' as const, text: part.text, ...optionsOf(part) }] : [],
  );
  const texts = text === '' ? ownTexts : [{ type: 'text' as const, text }];
  const calls = toolCalls.map((call) => ({
    type: 'tool-call' as const,
    toolCallId: call.id,
    toolName: call.name,
    input: sendableArguments(call.arguments),
    ...optionsOf(call),
  }));
  return [...reasoning, ...texts, ...calls];
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

function optionsOf(part: { readonly providerMetadata?: ProviderMetadata }): {
  providerOptions?: SharedV3ProviderOptions;
} {
  // What is JSON on its way in and out of the store is JSON here.
  return part.providerMetadata === undefined
    ? {}
    : { providerOptions: part.providerMetadata as SharedV3ProviderOptions };
}

function functionTool(tool: ToolSchema): LanguageModelV3FunctionTool {
  return { type: 'function', name: tool.name, description: tool.description, inputSchema: tool.parameters };
}

function isFilled(text: string | null): text is string {
  return text !== null && text !== '';
}
