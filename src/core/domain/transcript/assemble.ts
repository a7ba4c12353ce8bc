/*
 * From a transcript to the messages of a valid request.
 *
 * M1: every tool call has exactly one result, right after the batch that asks for it, and every result its call (P10).
 * M2: no message is empty, and the list begins with a user message.
 * M3: arguments that are no JSON object never go out: some providers refuse every later request over one of them.
 * M4: steers that follow each other are one message: nobody has answered between them.
 * M5: a summary is framed as background and not as somebody speaking.
 * M6: what a model wants handed back goes to that model alone, and reasoning only with the calls that it led to.
 * M7: a part that the reader is known not to take, or that is to be left out, is named and not sent.
 */
import { isUnsupported } from '../admission/unsupported-parts.ts';
import type { ModelInputs } from '../admission/unsupported-parts.ts';
import { placeholderText } from '../compression/placeholders.ts';
import type { RequestMessage } from './request-message.ts';
import type { AnsweredBy, ContentPart, Message, ToolCall } from './message.ts';
import { pairToolCalls } from './tool-pairs.ts';
import type { ResultsOf } from './tool-pairs.ts';

/** The model that gets a request. */
export interface Reader extends Pick<AnsweredBy, 'provider' | 'model'> {
  readonly takes?: ModelInputs;
}

/**
 * Without a reader it is taken for the model that gave every answer. The tool results in `replaced` go out as a short
 * line that says how long they were, and the images and files of the messages in it as lines that name them.
 */
export function assemble(
  stored: readonly Message[],
  reader: Reader | null = null,
  replaced: ReadonlySet<number> = noneReplaced,
): readonly RequestMessage[] {
  const messages = withJoinedSteers(stored);
  const results = pairToolCalls(messages);
  const sent = { reader, replaced };
  const assembled = messages.flatMap((message) => requestMessages(message, results.get(message) ?? noResults, sent));
  return assembled[0]?.role === 'user' ? assembled : [openingMessage, ...assembled];
}

function withJoinedSteers(messages: readonly Message[]): readonly Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    if (message.kind === 'steer' && before?.kind === 'steer') joined[joined.length - 1] = joinedSteer(before, message);
    else joined.push(message);
  }
  return joined;
}

function joinedSteer(first: Message, second: Message): Message {
  const parts = first.parts === null && second.parts === null ? null : [...partsOf(first), ...partsOf(second)];
  return { ...first, text: `${first.text}\n\n${second.text}`, parts };
}

function partsOf({ text, parts }: Message): readonly ContentPart[] {
  return parts ?? [{ type: 'text', text }];
}

/** For whom a request is, and what of it is left out. */
interface Sent {
  readonly reader: Reader | null;
  readonly replaced: ReadonlySet<number>;
}

const noneReplaced: ReadonlySet<number> = new Set();
const noResults: ResultsOf<Message> = new Map();

function requestMessages(
  message: Message,
  results: ResultsOf<Message>,
  { reader, replaced }: Sent,
): readonly RequestMessage[] {
  if (message.kind === 'summary') return [{ role: 'user', text: framedSummary(message.text), parts: null }];
  switch (message.role) {
    case 'user':
      return message.text.trim() === '' && (message.parts ?? []).length === 0
        ? []
        : [{ role: 'user', text: message.text, parts: readableParts(message, { reader, replaced }) }];
    case 'assistant':
      return assistantMessages(message, results, { reader, replaced });
    case 'tool':
      return []; // It goes out with the batch that asks for it; without one it has no place.
  }
}

function assistantMessages(
  message: Message,
  results: ResultsOf<Message>,
  { reader, replaced }: Sent,
): readonly RequestMessage[] {
  const isOwn = isAnswerOf(message, reader);
  const calls = uniqueCalls(message.toolCalls).map((call) => (isOwn ? call : withoutMetadata(call)));
  if (message.text.trim() === '' && calls.length === 0) return [];
  return [
    { role: 'assistant', text: message.text, parts: handedBack(message, isOwn), toolCalls: calls.map(sendable) },
    ...calls.map((call): RequestMessage => {
      const result = results.get(call.id);
      const text = result === undefined ? missingResult : shownResult(result, replaced);
      return { role: 'tool', toolCallId: call.id, toolName: call.name, text: text.trim() === '' ? emptyResult : text };
    }),
  ];
}

function readableParts({ id, parts }: Message, { reader, replaced }: Sent): Message['parts'] {
  const takes = reader?.takes ?? {};
  return (
    parts?.map((part) => {
      if (!('mediaType' in part)) return part;
      if (isUnsupported(part, takes)) return placeholder(part.mediaType, 'this model does not take it');
      return replaced.has(id) ? placeholder(part.mediaType, 'left out here, since the request was too large') : part;
    }) ?? null
  );
}

function placeholder(mediaType: string, why: string): ContentPart {
  return { type: 'text', text: `[${mediaType}: ${why}]` };
}

function isAnswerOf({ answeredBy }: Message, reader: Reader | null): boolean {
  if (reader === null || answeredBy === undefined) return true;
  return answeredBy.provider === reader.provider && answeredBy.model === reader.model;
}

function handedBack({ parts, toolCalls }: Message, isOwn: boolean): readonly ContentPart[] | null {
  const kept = (isOwn ? (parts ?? []) : []).filter((part) => part.type !== 'reasoning' || toolCalls.length > 0);
  return kept.length === 0 ? null : kept;
}

function withoutMetadata({ id, name, arguments: written }: ToolCall): ToolCall {
  return { id, name, arguments: written };
}

function shownResult({ id, text }: Message, replaced: ReadonlySet<number>): string {
  return replaced.has(id) ? placeholderText(text.length) : text;
}

const missingResult = '[The result of this call was lost. Its outcome is unknown.]';
const emptyResult = '[no output]';
const openingMessage: RequestMessage = { role: 'user', text: '[The conversation goes on.]', parts: null };

/** A summary as a request shows it. Its tokens are counted in this form. */
export function framedSummary(text: string): string {
  return `<background>\nA summary of the earlier conversation, made by the gateway. It is context, not a request.\n\n${text}\n</background>`;
}

function uniqueCalls(calls: readonly ToolCall[]): readonly ToolCall[] {
  return calls.filter((call, index) => calls.findIndex((other) => other.id === call.id) === index);
}

function sendable(call: ToolCall): ToolCall {
  return isJsonObject(call.arguments) ? call : { ...call, arguments: '{}' };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
