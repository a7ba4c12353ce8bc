import { redacted, type Secrets } from './secrets.ts';

/** What can be printed: JSON without anything secret, cyclic, huge or hidden in it. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

const deepest = 8;
const mostEntries = 100;
const longestText = 16_384;

/**
 * Turns any value into what may be logged. A value under a key that names a secret is replaced at any depth, and known
 * secret values are masked in every text, keys included. It never throws, whatever it is given.
 */
export function toPlain(value: unknown, secrets: Secrets): Plain {
  return convert(value, { secrets, depth: 0, above: [] });
}

interface Place {
  readonly secrets: Secrets;
  readonly depth: number;
  /** The objects around this one, to notice a cycle. */
  readonly above: readonly object[];
}

function convert(value: unknown, place: Place): Plain {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return shorten(place.secrets.mask(value));
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'object') return convertObject(value, place);
  if (typeof value === 'bigint' || typeof value === 'symbol') return value.toString();
  return typeof value === 'function' ? '[function]' : null;
}

function convertObject(value: object, place: Place): Plain {
  if (place.above.includes(value)) return '[circular]';
  if (place.depth >= deepest) return '[deeper]';
  const inside = { ...place, depth: place.depth + 1, above: [...place.above, value] };
  try {
    if (value instanceof Error) return convertEntries(errorEntries(value), inside);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (value instanceof URL) return convert(value.href, place);
    if (value instanceof Map)
      return convertEntries(
        [...value].map(([key, item]) => [String(key), item]),
        inside,
      );
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
    if (Array.isArray(value) || value instanceof Set) return convertList([...value], inside);
    return convertEntries(
      Object.keys(value).map((key) => [key, read(value, key)]),
      inside,
    );
  } catch {
    return '[unreadable]'; // A proxy or a broken `toString`: a log line must not become a fault of its own.
  }
}

function convertList(items: readonly unknown[], place: Place): Plain {
  // Raw headers come as [name, value, name, value, …], so a value after a secret name is a secret.
  const plain = items
    .slice(0, mostEntries)
    .map((item, index) =>
      isSecretName(items[index - 1]) && typeof item === 'string' ? redacted : convert(item, place),
    );
  return items.length > mostEntries ? [...plain, `[${items.length - mostEntries} more]`] : plain;
}

function convertEntries(entries: readonly (readonly [string, unknown])[], place: Place): Plain {
  const plain: [string, Plain][] = entries
    .filter(([, value]) => value !== undefined)
    .slice(0, mostEntries)
    .map(([key, value]) => [place.secrets.mask(key), isHidden(key, value) ? redacted : convert(value, place)]);
  if (entries.length > mostEntries) plain.push(['…', `${entries.length - mostEntries} more`]);
  return Object.fromEntries(plain);
}

/** `cause` and `errors` are not enumerable, and neither are the three that everybody wants to see. */
function errorEntries(error: Error): readonly (readonly [string, unknown])[] {
  const own = Object.keys(error).filter((key) => !['name', 'message', 'stack', 'cause', 'errors'].includes(key));
  return [
    ['name', error.name],
    ['message', error.message],
    ...own.map((key) => [key, read(error, key)] as const),
    ['stack', error.stack],
    ['cause', error.cause],
    ['errors', error instanceof AggregateError ? error.errors : undefined],
  ];
}

function read(value: object, key: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>>)[key]; // The key is one of its own.
  } catch {
    return '[unreadable]'; // a getter that throws
  }
}

function isHidden(key: string, value: unknown): boolean {
  return isSecretName(key) && value !== null && value !== '' && typeof value !== 'boolean';
}

/** Names such as `apiKey`, `x-api-key`, `Set-Cookie`, `db_password`. Counts (`max_tokens`) and `api_key_env` are none. */
function isSecretName(name: unknown): boolean {
  if (typeof name !== 'string') return false;
  return secretNames.test(name.toLowerCase().replace(/[-_\s]/g, ''));
}

const secretNames =
  /^(?:.*(?:authorization|apikey|token|password|passwd|passphrase|secret|privatekey|credentials?)|(?:set)?cookies?)$/;

function shorten(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}… [${text.length - longestText} more]`;
}
