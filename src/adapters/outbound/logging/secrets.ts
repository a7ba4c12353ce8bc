/** What stands where a secret was. */
export const redacted = '[redacted]';

/** A shorter value would be found in ordinary words, and redacting them would hide the log and not the secret. */
const shortestSecret = 6;

/**
 * The secret values that this process holds, so that they can be kept out of any text: the log, the summaries. A value
 * is found in the middle of other text too, and as it looks in a URL or in JSON.
 */
export class Secrets {
  #values: readonly string[] = [];

  /** Values of less than six characters are left alone. */
  add(...values: readonly string[]): void {
    const forms = values.filter((value) => value.length >= shortestSecret).flatMap(formsOf);
    // Longest first, so that a secret that contains another one goes as a whole.
    this.#values = [...new Set([...this.#values, ...forms])].sort((a, b) => b.length - a.length);
  }

  /** The text without any registered value and without what looks like a credential in a header or a URL. */
  mask(text: string): string {
    const known = this.#values.reduce((masked, value) => masked.replaceAll(value, redacted), text);
    return credentialShapes.reduce((masked, shape) => masked.replace(shape, `$1${redacted}`), known);
  }
}

function formsOf(value: string): readonly string[] {
  return [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
}

/** Each keeps what says that there was one, in its first group. Their repeats are bounded, so that no text is slow. */
const credentialShapes: readonly RegExp[] = [
  /\b((?:Bearer|Basic)\s{1,10})[\w.~+/=-]{6,}/gi,
  /(holdfast\.token\.)[\w-]+/g,
  /([?&](?:access_token|token|api_key|apikey|key|password|secret)=)[^&\s"'#]+/gi,
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@"']{0,200}:)[^\s/@"']{1,500}(?=@)/gi,
];
