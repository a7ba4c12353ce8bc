import type Database from 'better-sqlite3';
import type { PromptPayload } from '../../../core/domain/admission/admission.ts';
import { beginningOf } from '../../../core/domain/transcript/cut-text.ts';
import { maxListedCharacters } from '../../../core/ports/session-queries.ts';
import { fromJson } from './json-column.ts';

/** How the column of payloads begins. The text comes first, so that its beginning is found without the rest. */
const head = '{"text":"';
/** How it ends where a prompt is nothing but its text. */
const tail = ',"parts":null}';
/** In JSON one UTF-16 unit is at most an escape of six characters. */
const maxReadCharacters = head.length + 6 * (maxListedCharacters + 1);

/** What a list has of the prompt of the admission with this sequence number; null when its content was deleted. */
export type ContentOf = (seq: number) => PromptPayload | null;

/** Of a large text only the beginning is read; a prompt with parts is read as a whole. */
export function makeContentOf(db: Database.Database): ContentOf {
  const beginning = db
    .prepare<[number, number], string | null>(
      `SELECT substr(payload, 1, ?) FROM session_admissions
       WHERE seq = ? AND substr(payload, -${String(tail.length)}) = '${tail}'`,
    )
    .pluck();
  const whole = db.prepare<[number], string | null>('SELECT payload FROM session_admissions WHERE seq = ?').pluck();
  return (seq) => {
    const text = textIn(beginning.get(maxReadCharacters, seq) ?? '');
    if (text !== null) return { text: beginningOf(text, maxListedCharacters), parts: null };
    return fromJson<PromptPayload>(whole.get(seq) ?? null);
  };
}

/** The text in the beginning of a payload's JSON, as far as it goes; null when the JSON begins in another way. */
export function textIn(json: string): string | null {
  if (!json.startsWith(head)) return null;
  const string = json.slice(head.length, endOfString(json, head.length));
  return JSON.parse(`"${withoutHalfEscape(string)}"`) as string; // the quotes make it one
}

/** Where the string ends that begins at `from`, or where the text ends. */
function endOfString(json: string, from: number): number {
  let end = json.indexOf('"', from);
  while (end > 0 && backslashesBefore(json, end) % 2 === 1) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end;
}

/** A cut may have left half of an escape at the end. */
function withoutHalfEscape(string: string): string {
  const start = string.lastIndexOf('\\');
  if (start < 0 || backslashesBefore(string, start) % 2 === 1) return string;
  const length = string[start + 1] === 'u' ? 6 : 2;
  return start + length > string.length ? string.slice(0, start) : string;
}

function backslashesBefore(text: string, index: number): number {
  let first = index;
  while (text[first - 1] === '\\') first -= 1;
  return index - first;
}
