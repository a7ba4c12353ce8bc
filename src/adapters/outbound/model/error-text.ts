/** The part of a text that belongs to the first of several errors: what a fallback or a later attempt said is not the cause. */
export function firstOfChain(whole: string): string {
  const text = whole.replace(/^traceback \(most recent call last\):\s*\n(?:[ \t]+.*\n)*/i, '');
  const starts = laterErrors.flatMap((pattern) => {
    const match = pattern.exec(text);
    // A marker right at the beginning introduces the first error and ends nothing.
    return match === null || match.index < minFirstCharacters ? [] : [match.index];
  });
  return starts.length === 0 ? text : text.slice(0, Math.min(...starts));
}

const minFirstCharacters = 12;

/** Words that introduce a second error. */
const laterErrors: readonly RegExp[] = [
  /\berror (?:doing|during|in|running) (?:the )?fall[- ]?back/i,
  /\b(?:all )?fall[- ]?backs?\b[^.:\n]{0,60}\b(?:failed|error|errored|exception|raised|returned|answered|said)\b/i,
  /\b(?:attempt|try|retry|provider|deployment|candidate) ?#?[2-9]\b\s*(?:[:)-]|failed)/i,
  /\b(?:then|next|afterwards?|subsequently|second(?:ly)?|also)\b[^.:\n]{0,40}\b(?:failed|errored|error|returned|answered)\b[^.:\n]{0,20}:/i,
  /\bduring handling of the above exception/i,
  /[\n;|]\s*(?:and |then )?(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)\s*[:(-]/,
];

/** A text without what a parser or a validator quotes behind it: that is a user's or a model's, and the server says nothing more. */
export function withoutEcho(text: string): string {
  const match = echoMarker.exec(text);
  return match === null ? text : text.slice(0, match.index + match[0].length).trim();
}

/** Whether what follows this text is such a quotation. */
export function announcesEcho(text: string): boolean {
  return echoMarker.test(text);
}

/** llama.cpp's parsers, and the errors of pydantic as text. */
const echoMarker = /\bat pos(?:ition)? \d+:|\blast read:|'input':|\binput_value=/;

/**
 * A text in the form that the tables match against: lower case, ASCII punctuation, no quotation marks, numbers without
 * separators, one space between words. Values that the provider quotes from the request are left out.
 */
export function matchable(text: string): string {
  return (
    text
      .slice(0, maxMatchedCharacters)
      .normalize('NFKC')
      .replace(/[。｡]/g, '. ')
      .replace(/[、،]/g, ', ')
      .replace(/[“”„«»「」『』]/g, '"')
      .replace(/[‘’‚`]/g, "'")
      .replace(/\\[nrt]/g, ' ')
      .replace(/\\+(["'])/g, '$1')
      .replace(echoedValue, '$1')
      .replace(/["'*]/g, '')
      .replace(/(?<![\d[.,])\d{1,3}(?:[,_]\d{3})+(?![\d.])/g, (number) => number.replace(/[,_]/g, ''))
      .replace(/(?<![\d[.,])\d{1,3}(?:[ .]\d{3})+(?= ?tokens?\b)/gi, (number) => number.replace(/[ .]/g, ''))
      .replace(/\s+/g, ' ')
      .toLowerCase()
      // Go's contexts are no windows.
      .replace(/\bcontext (deadline exceeded|cancell?ed)/g, '$1')
      .trim()
  );
}

const maxMatchedCharacters = 4_000;
const echoedValue =
  /\b(invalid value|unknown value|unexpected value|unrecognized value|got value|received value)\s*:?\s*(["'])(?:(?!\2).){0,2000}\2/gi;
