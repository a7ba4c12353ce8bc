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
  /** The pieces of the line that has not ended yet. They are joined once, at its end, so that no line is quadratic. */
  #line: string[] = [];
  #lineCharacters = 0;
  /** A line ended with CR at the end of the last bytes: an LF that comes first belongs to it. */
  #skipsLf = false;
  #data: string[] = [];
  #dataCharacters = 0;
  #name: string | null = null;

  constructor(maxFrameCharacters: number) {
    this.#maxFrameCharacters = maxFrameCharacters;
  }

  /** The events that these bytes complete. Characters and line ends may be split between two calls. */
  push(bytes: Uint8Array): readonly SseEvent[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The event that the end completes, if there is one. */
  end(): readonly SseEvent[] {
    return this.#take(`${this.#decoder.decode()}\n\n`);
  }

  #take(text: string): readonly SseEvent[] {
    const events: SseEvent[] = [];
    let start = this.#skipsLf && text.startsWith('\n') ? 1 : 0;
    if (text !== '') this.#skipsLf = false;
    for (const end of text.matchAll(/\r\n|\n|\r/g)) {
      if (end.index < start) continue;
      this.#keep(text.slice(start, end.index));
      const event = this.#endLine();
      if (event !== null) events.push(event);
      start = end.index + end[0].length;
      this.#skipsLf = end[0] === '\r' && start === text.length;
    }
    this.#keep(text.slice(start));
    return events;
  }

  #keep(piece: string): void {
    if (piece === '') return;
    this.#line.push(piece);
    this.#lineCharacters += piece.length;
    if (this.#lineCharacters + this.#dataCharacters > this.#maxFrameCharacters) throw new FrameTooLong();
  }

  #endLine(): SseEvent | null {
    const line = this.#line.join('');
    this.#line = [];
    this.#lineCharacters = 0;
    return this.#takeLine(line);
  }

  #takeLine(line: string): SseEvent | null {
    if (line === '') return this.#dispatch();
    if (line.startsWith(':')) return null;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === 'data') {
      this.#dataCharacters += value.length;
      this.#data.push(value);
    } else if (field === 'event') this.#name = value;
    return null;
  }

  #dispatch(): SseEvent | null {
    const event = this.#data.length === 0 ? null : { name: this.#name, data: this.#data.join('\n') };
    this.#data = [];
    this.#dataCharacters = 0;
    this.#name = null;
    return event;
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
