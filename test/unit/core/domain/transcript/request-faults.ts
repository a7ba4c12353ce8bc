import type { RequestMessage } from '../../../../../src/core/domain/transcript/request-message.ts';

/**
 * What a strict provider would refuse a request for, as sentences; empty for a valid one. It is written from what
 * OpenAI's and Anthropic's APIs answer with status 400, and knows nothing of how requests are made.
 */
export function requestFaults(messages: readonly RequestMessage[]): readonly string[] {
  const faults: string[] = [];
  if (messages[0]?.role !== 'user') faults.push('the first message is not the user’s');
  let awaited = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const fault = (what: string): void => void faults.push(`message ${String(index)}: ${what}`);
    if (message.role === 'tool') {
      if (!awaited.delete(message.toolCallId)) fault('a result of a call that the message before does not make');
      if (message.text.trim() === '') fault('an empty result');
      continue;
    }
    if (awaited.size > 0) fault('comes before the results of the calls before it');
    awaited = new Set();
    if (message.role === 'user' && message.text.trim() === '' && !hasParts(message)) fault('an empty user message');
    if (message.role === 'assistant') {
      if (message.text.trim() === '' && message.toolCalls.length === 0) fault('an empty assistant message');
      const ids = message.toolCalls.map(({ id }) => id);
      if (new Set(ids).size < ids.length) fault('two calls with one id');
      for (const call of message.toolCalls) if (!isObject(call.arguments)) fault('arguments that are no JSON object');
      awaited = new Set(ids);
    }
  }
  if (awaited.size > 0) faults.push('the last calls have no results');
  return faults;
}

function hasParts(message: { readonly parts: readonly unknown[] | null }): boolean {
  return message.parts !== null && message.parts.length > 0;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
