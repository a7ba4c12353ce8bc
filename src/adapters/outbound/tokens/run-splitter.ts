/*
 * Every byte-pair tokenizer is quadratic in one long piece: 400,000 equal letters take more than a minute. A run without
 * a border (letters, digits, signs; or blanks) is therefore cut every 256 characters before it is counted. Ordinary text
 * and code have no such runs and are counted as they are.
 */

const maxRunCharacters = 256;
const longRun = /\S{257,}|\s{257,}/gu;

/** The text in pieces whose counts add up to the text's own, nearly always exactly. */
export function splitRuns(text: string): readonly string[] {
  const cuts: number[] = [];
  for (const run of text.matchAll(longRun)) {
    for (let at = run.index + maxRunCharacters; at < run.index + run[0].length; at += maxRunCharacters) {
      cuts.push(isBetweenSurrogates(text, at) ? at + 1 : at);
    }
  }
  if (cuts.length === 0) return [text];
  return [0, ...cuts].map((from, index) => text.slice(from, cuts[index] ?? text.length));
}

function isBetweenSurrogates(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
