/*
 * What a text is to a search: a list of words. It is the same for what is indexed and for what is asked, so that an index
 * needs no language of its own and a query has no syntax that could be wrong.
 *
 * T1: a word is a run of letters and digits, without case and without accents.
 * T2: scripts that write no spaces (Chinese, Japanese, Thai, …) have no words to be found: each character is a word, and a
 *     run of them in a query is a phrase. So any part of such a text is found, also one of two characters.
 * T3: an emoji or another pictograph is a word.
 * T4: everything else (quotes, operators, NUL, half a surrogate pair) only separates.
 */

/** Each term is a phrase: words that follow each other. All of them must be there. */
export interface SearchTerms {
  readonly phrases: readonly Phrase[];
}

interface Phrase {
  readonly words: readonly string[];
  /** Whether the last word may go on. */
  readonly isPrefix: boolean;
}

/** More phrases, or words in one, say nothing more about what is meant. */
const maxPhrases = 16;
const maxPhraseWords = 64;

const token =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|\p{Extended_Pictographic}|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[\p{L}\p{N}])+/gu;

/** The words of a text, in order. */
export function wordsOf(text: string): readonly string[] {
  return folded(text).match(token) ?? [];
}

/** What somebody asks for: words, `"phrases in quotes"`, and `beginnings*`. Every text is a query; some find nothing. */
export function parseSearch(query: string): SearchTerms {
  const phrases: Phrase[] = [];
  for (const [, quoted, plain] of query.matchAll(/"([^"]*)"?|([^\s"]+)/gu)) {
    const isPrefix = plain?.endsWith('*') ?? false;
    const words = wordsOf(quoted ?? plain ?? '').slice(0, maxPhraseWords);
    if (words.length > 0) phrases.push({ words, isPrefix });
    if (phrases.length === maxPhrases) break;
  }
  return { phrases };
}

/** Whether a text with these words holds every phrase. */
export function holdsAll(words: readonly string[], { phrases }: SearchTerms): boolean {
  return phrases.every((phrase) => words.some((_, start) => standsAt(words, start, phrase)));
}

function standsAt(words: readonly string[], start: number, phrase: Phrase): boolean {
  return phrase.words.every((word, index) => {
    const found = words[start + index];
    const mayGoOn = phrase.isPrefix && index === phrase.words.length - 1;
    return mayGoOn ? (found?.startsWith(word) ?? false) : found === word;
  });
}

/** A part of a text around the first word of the query that is in it, about so many characters long. */
export function snippetOf(
  text: string,
  { phrases }: SearchTerms,
  maxCharacters: number,
): { text: string; cut: boolean } {
  const wanted = new Set(phrases.flatMap(({ words }) => words));
  const at = firstPlaceOf(text, wanted);
  const start = Math.max(0, Math.min(at - Math.floor(maxCharacters / 4), text.length - maxCharacters));
  const part = [...text.slice(start, start + maxCharacters)].filter((character) => !isHalf(character)).join('');
  return { text: part, cut: start > 0 || start + maxCharacters < text.length };
}

function firstPlaceOf(text: string, wanted: ReadonlySet<string>): number {
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}]+|\p{Extended_Pictographic}/gu)) {
    if (wordsOf(match[0]).some((word) => wanted.has(word))) return match.index;
  }
  return 0;
}

function isHalf(character: string): boolean {
  return character.length === 1 && /\p{Cs}/u.test(character);
}

/** Compatible forms are one (ﬁ is fi, full width is not another letter), and accents are gone. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
}
