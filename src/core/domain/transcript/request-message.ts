import type { ContentPart, ToolCall } from './message.ts';

/** A message of a request, provider-neutral. Every tool call has its result in the messages that follow it at once. */
export type RequestMessage =
  | { readonly role: 'user'; readonly text: string; readonly parts: readonly ContentPart[] | null }
  | {
      readonly role: 'assistant';
      readonly text: string;
      /** Reasoning and other parts that the provider wants back; null for plain text. */
      readonly parts: readonly ContentPart[] | null;
      readonly toolCalls: readonly ToolCall[];
    }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly toolName: string; readonly text: string };
