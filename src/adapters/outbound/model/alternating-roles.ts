/*
 * For servers that take a conversation only where its roles alternate: chat templates of Gemma and Mistral, and Mistral's
 * own interface. Pure; the stored transcript never knows of it.
 *
 * R1: neighbours of one role become one message with all that both say.
 * R2: between the results of tools and a user stands a message of the assistant.
 */
import type { ContentPart } from '../../../core/domain/transcript/message.ts';
import type { RequestMessage } from '../../../core/ports/model-provider.ts';

/** The messages in alternating roles; the same list where they alternate already. */
export function withAlternatingRoles(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  const alternating: RequestMessage[] = [];
  let isChanged = false;
  for (const message of messages) {
    const last = alternating.at(-1);
    const joined = last === undefined ? null : joinedMessage(last, message);
    if (joined !== null) alternating[alternating.length - 1] = joined;
    else if (last?.role === 'tool' && message.role === 'user') alternating.push(bridge, message);
    else alternating.push(message);
    isChanged ||= joined !== null || alternating.at(-2) === bridge;
  }
  return isChanged ? alternating : messages;
}

/**
 * How servers say that they refuse a request for the order of its roles, in the form of `matchable`. A template's error
 * names the rule, Mistral the role that it met, and some only what they don't take.
 */
export const rolesRefusal =
  /roles? must alternate|(?:must|should) alternate (?:between|with)|alternat\w+ (?:between )?user(?: and |\/)assistant|unexpected role (?:roleenum\.)?user after role|(?:successive|consecutive) (?:user|assistant|messages)/;

const bridge: RequestMessage = {
  role: 'assistant',
  text: '[The conversation goes on.]',
  parts: null,
  toolCalls: [],
};

/** Null: the two don't belong together. An assistant with calls is followed by their results and never by another. */
function joinedMessage(first: RequestMessage, second: RequestMessage): RequestMessage | null {
  if (first.role === 'user' && second.role === 'user') {
    const parts = first.parts === null && second.parts === null ? null : [...partsOf(first), ...partsOf(second)];
    return { role: 'user', text: joinedText(first.text, second.text), parts };
  }
  if (first.role === 'assistant' && second.role === 'assistant') {
    const parts = [...(first.parts ?? []), ...(second.parts ?? [])];
    return {
      role: 'assistant',
      text: joinedText(first.text, second.text),
      parts: parts.length === 0 ? null : parts,
      toolCalls: [...first.toolCalls, ...second.toolCalls],
    };
  }
  return null;
}

/** A message's text repeats its text parts, where it has some. */
function partsOf({ text, parts }: Extract<RequestMessage, { role: 'user' }>): readonly ContentPart[] {
  const given = parts ?? [];
  const isWhole = text.trim() === '' || given.some((part) => part.type === 'text');
  return isWhole ? given : [{ type: 'text', text }, ...given];
}

function joinedText(first: string, second: string): string {
  return [first, second].filter((text) => text.trim() !== '').join('\n\n');
}
