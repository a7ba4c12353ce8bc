import type { MessageMeta } from './message.ts';

/** What a message costs beyond its text: role and separators, as OpenAI's own counting recipe has it. */
export const messageOverheadTokens = 4;

/** A rough count for texts of the gateway's own that are too short to matter: UTF-8 bytes / 4, rounded up. */
export function roughTokens(text: string): number {
  return Math.ceil(utf8Length(text) / 4);
}

/** The length of a text in UTF-8 bytes, without encoding it. A lone surrogate counts as the replacement character. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code >= 0xd800 && code <= 0xdbff && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index += 1;
    } else bytes += 3;
  }
  return bytes;
}

export function sumTokens(messages: readonly MessageMeta[]): number {
  return messages.reduce((sum, message) => sum + message.tokens, 0);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
