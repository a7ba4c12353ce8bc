import type { MessageRow, SentMessage } from './rows.ts';

/**
 * The conversation that a request must carry, made from the rows: each active message once, in order, and behind each
 * message with calls the results of its calls. A result without a row has a placeholder, whose text is free.
 */
export function expectedRequest(stored: readonly MessageRow['message'][]): readonly SentMessage[] {
  const active = withJoinedSteers(stored);
  return active.flatMap((message, index): SentMessage[] => {
    if (message.role === 'tool') return [];
    const calls = message.toolCalls.filter(
      ({ id }, at) => message.toolCalls.findIndex((call) => call.id === id) === at,
    );
    if (message.text.trim() === '' && calls.length === 0) return [];
    const results = calls.map(({ id }): SentMessage => {
      const row = resultOf(active, index, id);
      return { role: 'tool', text: row?.text ?? '', toolCallId: id };
    });
    const toolCalls = calls.map(({ id, name }) => ({ id, name, arguments: '{}' }));
    return [{ role: message.role, text: message.text, toolCalls }, ...results];
  });
}

/** Steers that nobody has answered between them are one message. */
function withJoinedSteers(messages: readonly MessageRow['message'][]): readonly MessageRow['message'][] {
  return messages.reduce<readonly MessageRow['message'][]>((joined, message) => {
    const before = joined.at(-1);
    if (message.kind !== 'steer' || before?.kind !== 'steer') return [...joined, message];
    return [...joined.slice(0, -1), { ...before, text: `${before.text}\n\n${message.text}` }];
  }, []);
}

/** The first result of this id behind the message, unless another message asks under the same id before it comes. */
export function resultOf(
  messages: readonly MessageRow['message'][],
  asker: number,
  callId: string,
): MessageRow['message'] | undefined {
  for (const message of messages.slice(asker + 1)) {
    if (message.toolCallId === callId) return message;
    if (message.toolCalls.some(({ id }) => id === callId)) return undefined;
  }
  return undefined;
}
