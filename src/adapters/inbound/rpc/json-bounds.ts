export interface JsonBounds {
  readonly maxDepth: number;
  readonly maxValues: number;
}

/**
 * Whether a text stays within the bounds, found out before it is parsed: deep nesting parses well and then breaks what
 * walks it, and hundreds of thousands of keys cost a third of a second.
 *
 * It counts brackets and separators outside strings. A text that is no JSON may get either answer; the parser has the
 * last word on it.
 */
export function staysWithin(text: string, { maxDepth, maxValues }: JsonBounds): boolean {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case quote:
        index = endOfString(text, index);
        break;
      case openBracket:
      case openBrace:
        depth += 1;
        if (depth > maxDepth) return false;
        break;
      case closeBracket:
      case closeBrace:
        depth -= 1;
        break;
      case comma:
        values += 1;
        if (values > maxValues) return false;
        break;
    }
  }
  return true;
}

/** The index of the quote that ends the string which starts at `from`. */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(index - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
