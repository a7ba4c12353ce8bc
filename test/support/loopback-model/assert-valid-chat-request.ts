import type { ChatMessage } from './loopback-model.ts';

/**
 * Throws when a list of chat messages breaks a rule by which providers refuse whole requests: pairs of tool calls and
 * results (OpenAI, DeepSeek), ids, arguments that are JSON objects, and who speaks first. Tests run it over every request
 * that was recorded.
 */
export function assertValidChatRequest(messages: readonly ChatMessage[]): void {
  const faults = chatRequestFaults(messages);
  if (faults.length > 0) throw new Error(`invalid chat request: ${faults.join('; ')}`);
}

export function chatRequestFaults(messages: readonly ChatMessage[]): readonly string[] {
  if (messages.length === 0) return ['there are no messages'];
  const first = messages.find(({ role }) => role !== 'system' && role !== 'developer');
  const faults =
    first?.role === 'user' ? [] : [`the first message that is not the system's is by ${first?.role ?? 'nobody'}`];
  return [
    ...faults,
    ...messages.flatMap((message, index) => messageFaults(message, index)),
    ...pairingFaults(messages),
  ];
}

function messageFaults(message: ChatMessage, index: number): readonly string[] {
  const at = `message ${String(index)} (${message.role})`;
  const calls = message.tool_calls ?? [];
  const faults: string[] = [];
  if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(message.role))
    faults.push(`${at} has an unknown role`);
  if (message.tool_calls?.length === 0) faults.push(`${at} has an empty list of tool calls`);
  if (message.role !== 'assistant' && calls.length > 0) faults.push(`${at} has tool calls`);
  if (message.role === 'assistant' && calls.length === 0 && isEmpty(message.content)) faults.push(`${at} is empty`);
  if (message.role === 'user' && isEmpty(message.content)) faults.push(`${at} is empty`);
  if (message.role === 'tool' && typeof message.content !== 'string') faults.push(`${at} has no text`);
  for (const call of calls) {
    if (call.id === '') faults.push(`${at} has a call without an id`);
    if (!/^[\w.:-]{1,128}$/.test(call.function.name))
      faults.push(`${at} calls "${call.function.name}", which is no name`);
    if (!isJsonObject(call.function.arguments)) faults.push(`${at} has arguments that are no JSON object`);
  }
  return faults;
}

/** Each batch of calls is answered at once, completely and once, and nothing else is answered. */
function pairingFaults(messages: readonly ChatMessage[]): readonly string[] {
  const faults: string[] = [];
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? '';
      if (!open.delete(id)) faults.push(`message ${String(index)} answers "${id}", which nobody asks for`);
      continue;
    }
    if (open.size > 0) faults.push(`message ${String(index)} comes before the results of ${[...open].join(', ')}`);
    const ids = (message.tool_calls ?? []).map((call) => call.id);
    if (new Set(ids).size !== ids.length) faults.push(`message ${String(index)} uses one id for several calls`);
    open = new Set(ids);
  }
  return open.size > 0 ? [...faults, `the results of ${[...open].join(', ')} are missing`] : faults;
}

function isEmpty(content: unknown): boolean {
  return (
    content === undefined || content === null || content === '' || (Array.isArray(content) && content.length === 0)
  );
}

function isJsonObject(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
