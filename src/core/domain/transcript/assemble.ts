/*
 * From a transcript to the messages of a valid request.
 *
 * M1: every tool call has exactly one result, right after the batch that asks for it, and every result its call (P10).
 * M2: no message is empty, and the list begins with a user message.
 * M3: arguments that are no JSON object never go out: some providers refuse every later request over one of them.
 * M4: a summary is framed as background and not as somebody speaking.
 */
import { placeholderText } from '../compression/placeholders.ts';
import type { RequestMessage } from './request-message.ts';
import type { Message, ToolCall } from './message.ts';
import { pairToolCalls } from './tool-pairs.ts';
import type { ResultsOf } from './tool-pairs.ts';

/** The tool results in `replaced` go out as a short line that says how long they were. */
export function assemble(
  messages: readonly Message[],
  replaced: ReadonlySet<number> = noneReplaced,
): readonly RequestMessage[] {
  const results = pairToolCalls(messages);
  const assembled = messages.flatMap((message) =>
    requestMessages(message, results.get(message) ?? noResults, replaced),
  );
  return assembled[0]?.role === 'user' ? assembled : [openingMessage, ...assembled];
}

const noneReplaced: ReadonlySet<number> = new Set();
const noResults: ResultsOf<Message> = new Map();

function requestMessages(
  message: Message,
  results: ResultsOf<Message>,
  replaced: ReadonlySet<number>,
): readonly RequestMessage[] {
  if (message.kind === 'summary') return [{ role: 'user', text: framedSummary(message.text), parts: null }];
  switch (message.role) {
    case 'user':
      return message.text.trim() === '' && (message.parts ?? []).length === 0
        ? []
        : [{ role: 'user', text: message.text, parts: message.parts }];
    case 'assistant':
      return assistantMessages(message, results, replaced);
    case 'tool':
      return []; // It goes out with the batch that asks for it; without one it has no place.
  }
}

function assistantMessages(
  message: Message,
  results: ResultsOf<Message>,
  replaced: ReadonlySet<number>,
): readonly RequestMessage[] {
  const calls = uniqueCalls(message.toolCalls);
  if (message.text.trim() === '' && calls.length === 0) return [];
  return [
    { role: 'assistant', text: message.text, parts: message.parts, toolCalls: calls.map(sendable) },
    ...calls.map((call): RequestMessage => {
      const result = results.get(call.id);
      const text = result === undefined ? missingResult : shownResult(result, replaced);
      return { role: 'tool', toolCallId: call.id, toolName: call.name, text: text.trim() === '' ? emptyResult : text };
    }),
  ];
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
