/*
 * Server-sent events from bytes, as the HTML standard has them (https://html.spec.whatwg.org/multipage/server-sent-events.html),
 * with two tolerances that real servers need: the last event may lack its blank line, and several JSON events may lack
 * the blank lines between them (see `jsonFrames`).
 */

export interface SseEvent {
  readonly name: string | null;
  readonly data: string;
}

export class FrameTooLong extends Error {
  override readonly name = 'FrameTooLong';
}

export class SseParser {
  readonly #decoder = new TextDecoder();
  readonly #maxFrameCharacters: number;
  #pending = '';
  /** Up to here `#pending` holds no line end. */
  #scanned = 0;
  #lines: string[] = [];
  #frameCharacters = 0;
  #name: string | null = null;

  constructor(maxFrameCharacters: number) {
    this.#maxFrameCharacters = maxFrameCharacters;
  }

  /** The events that these bytes complete. Characters and line ends may be split between two calls. */
  push(bytes: Uint8Array): readonly SseEvent[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }), false);
  }

  /** The event that the end completes, if there is one. */
  end(): readonly SseEvent[] {
    return this.#take(`${this.#decoder.decode()}\n\n`, true);
  }

  #take(text: string, isEnd: boolean): readonly SseEvent[] {
    this.#pending += text;
    const events: SseEvent[] = [];
    let start = 0;
    for (;;) {
      const end = this.#lineEnd(start, isEnd);
      if (end === null) break;
      const event = this.#line(this.#pending.slice(start, end.at));
      if (event !== null) events.push(event);
      start = end.next;
    }
    this.#pending = this.#pending.slice(start);
    this.#scanned = Math.max(0, this.#scanned - start);
    this.#limit(this.#pending.length);
    return events;
  }

  /** A line ends with LF, CR or CR LF; a CR at the very end may still get its LF. */
  #lineEnd(start: number, isEnd: boolean): { readonly at: number; readonly next: number } | null {
    const text = this.#pending;
    for (let at = Math.max(start, this.#scanned); at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 10) return { at, next: at + 1 };
      if (code !== 13) continue;
      if (at + 1 === text.length && !isEnd) {
        this.#scanned = at;
        return null;
      }
      return { at, next: text.charCodeAt(at + 1) === 10 ? at + 2 : at + 1 };
    }
    this.#scanned = text.length;
    return null;
  }

  #line(line: string): SseEvent | null {
    if (line === '') return this.#dispatch();
    if (line.startsWith(':')) return null;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === 'data') {
      this.#frameCharacters += value.length;
      this.#limit(this.#frameCharacters);
      this.#lines.push(value);
    } else if (field === 'event') this.#name = value;
    return null;
  }

  #dispatch(): SseEvent | null {
    const event = this.#lines.length === 0 ? null : { name: this.#name, data: this.#lines.join('\n') };
    this.#lines = [];
    this.#frameCharacters = 0;
    this.#name = null;
    return event;
  }

  #limit(characters: number): void {
    if (characters > this.#maxFrameCharacters) throw new FrameTooLong();
  }
}

/** What a frame's data holds: JSON values, the end mark, nothing (a heartbeat), or something that is no JSON. */
export type FrameContent =
  | { readonly kind: 'json'; readonly values: readonly unknown[] }
  | { readonly kind: 'done' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'garbage' };

export function frameContent(data: string): FrameContent {
  const text = data.trim();
  if (text === '') return { kind: 'empty' };
  if (text === '[DONE]') return { kind: 'done' };
  const whole = parsed(text);
  if (whole !== undefined) return { kind: 'json', values: [whole] };
  const lines = text.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '[DONE]');
  const values = lines.length > 1 ? lines.map(parsed) : [undefined];
  return values.includes(undefined) ? { kind: 'garbage' } : { kind: 'json', values };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
