/** A text as it is shown: whole, or cut and marked. */
export interface ShownText {
  readonly text: string;
  readonly truncated?: true;
}

/** The longest beginning of a text that fits so many UTF-8 bytes and ends between two characters. */
export function cutText(text: string, maxBytes: number): ShownText {
  // No UTF-16 unit takes more than three bytes, so most texts need no look.
  if (text.length * 3 <= maxBytes) return { text };
  let bytes = 0;
  let index = 0;
  while (index < text.length) {
    const code = text.codePointAt(index) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > maxBytes) return { text: text.slice(0, index), truncated: true };
    index += code < 0x10000 ? 1 : 2;
  }
  return { text };
}

/** Keeps an answer with many texts below a size: each text has a limit, and all together have one. */
export class TextBudget {
  readonly #maxTextBytes: number;
  #leftBytes: number;

  constructor(maxTextBytes: number, maxTotalBytes: number) {
    this.#maxTextBytes = maxTextBytes;
    this.#leftBytes = maxTotalBytes;
  }

  take(text: string): ShownText {
    const shown = cutText(text, Math.max(0, Math.min(this.#maxTextBytes, this.#leftBytes)));
    this.#leftBytes -= shown.text.length;
    return shown;
  }
}
