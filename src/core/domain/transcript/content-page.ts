import type { PromptPayload } from '../admission/admission.ts';
import type { SessionEvent } from '../session/events.ts';
import type { Message } from './message.ts';

/** How much content a page of any read holds at most, in characters, beyond its first row. */
export const maxPageCharacters = 4_000_000;

/** The letters of all strings in a value: a cheap measure of what it takes to store it or to hand it over. */
export function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const item of Object.values(value)) length += textLength(item);
  return length;
}

/** The size of what a person, a model or a tool wrote. */
export function charactersOf({ text, parts, toolCalls }: Pick<Message, 'text' | 'parts' | 'toolCalls'>): number {
  return text.length + textLength(parts) + textLength(toolCalls);
}

/** The content of a prompt that has been deleted weighs nothing. */
export function charactersOfPayload(payload: PromptPayload | null): number {
  return payload === null ? 0 : payload.text.length + textLength(payload.parts);
}

/** What an event brings with it. */
export function charactersOfEvent(event: SessionEvent): number {
  if (event.type === 'session.created') return event.profile.systemPrompt?.length ?? 0;
  return event.type === 'message.appended' && 'text' in event.message ? charactersOf(event.message) : 0;
}

export interface ContentPage<Row> {
  readonly rows: readonly Row[];
  /** The first row that the page has no room for; null: there is none. */
  readonly next: Row | null;
}

/**
 * The first rows that make a page: no more than `limit`, and no more than a page holds, but always one. It takes one
 * row more than it gives, and none after that, so that rows may be read as they are asked for.
 */
export function pageOf<Row>(rows: Iterable<Row>, limit: number, size: (row: Row) => number): ContentPage<Row> {
  const page: Row[] = [];
  let characters = 0;
  for (const row of rows) {
    characters += size(row);
    if (page.length > 0 && (page.length >= limit || characters > maxPageCharacters)) return { rows: page, next: row };
    page.push(row);
  }
  return { rows: page, next: null };
}
