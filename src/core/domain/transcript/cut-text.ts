/* Cuts that never leave half a character: a lone surrogate makes a whole request invalid for some providers. */

/** At most the first `length` UTF-16 units. */
export function beginningOf(text: string, length: number): string {
  return text.slice(0, isInsideCharacter(text, length) ? length - 1 : length);
}

/** At most the last `length` UTF-16 units. */
export function endOf(text: string, length: number): string {
  const start = Math.max(text.length - length, 0);
  return text.slice(isInsideCharacter(text, start) ? start + 1 : start);
}

function isInsideCharacter(text: string, index: number): boolean {
  return isBetween(text.charCodeAt(index - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(index), 0xdc00, 0xdfff);
}

function isBetween(code: number, first: number, last: number): boolean {
  return code >= first && code <= last;
}
