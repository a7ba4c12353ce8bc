import type { Message, MessageDraft } from './message.ts';

/**
 * The messages with images or files before the newest prompt. A provider that refuses the bytes of a request refuses
 * them in every later one too, so these are what a request can do without: what they showed was answered.
 */
export function olderMedia(messages: readonly Message[]): ReadonlySet<number> {
  const newestPrompt = messages.findLastIndex(({ kind }) => kind === 'prompt');
  const older = messages.slice(0, Math.max(0, newestPrompt));
  return new Set(older.filter(hasMedia).map(({ id }) => id));
}

/** Whether a message carries images or files. */
export function hasMedia({ parts }: Pick<MessageDraft, 'parts'>): boolean {
  return (parts ?? []).some((part) => 'mediaType' in part);
}
