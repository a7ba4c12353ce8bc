/** Shorter values are words that occur everywhere, such as `1` or `on`; to mask them would only spoil the text. */
const shortestSecret = 4;

/**
 * Replaces secret values in texts that come from outside, such as what a server prints. Of a value with a scheme
 * (`Bearer abcdef`) the part after it counts as well.
 */
export function makeSecretMask(values: Iterable<string>): (text: string) => string {
  const secrets = [...values]
    .flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)])
    .filter((value) => value.length >= shortestSecret)
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, '[secret]'), text);
}
