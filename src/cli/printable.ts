/*
 * Text from elsewhere on a terminal. Titles, prompts and answers come from people and models: they must not be able to
 * move the cursor, change the title of the window or turn the reading direction.
 */

const controls = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Several lines of text, with tabs and line ends as they are. */
export function printable(text: string): string {
  return text.replace(controls, (character) => (character === '\n' || character === '\t' ? character : '\ufffd'));
}

/** One line of at most `width` characters: the beginning of the text. */
export function printableLine(text: string, width: number): string {
  const line = text.replace(/\s+/gu, ' ').replace(controls, '\ufffd').trim();
  const characters = [...line];
  return characters.length <= width ? line : `${characters.slice(0, Math.max(width - 1, 0)).join('')}…`;
}
