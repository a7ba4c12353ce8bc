import type { Plain } from './plain.ts';

export interface LogEntry {
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, Plain>>;
}

/** One JSON object. A field that is called like one of the line's own keys gets a `_` at its end. */
export function jsonLine({ at, level, message, fields }: LogEntry): string {
  const own = { at, level, message };
  const rest = Object.entries(fields).map(([key, value]) => [key in own ? `${key}_` : key, value]);
  return JSON.stringify({ ...own, ...Object.fromEntries(rest) });
}

/** A line for people, with each error on lines of its own below it. */
export function prettyLine({ at, level, message, fields }: LogEntry, colour: boolean): string {
  const paint = colour ? painted : plain;
  const entries = Object.entries(fields);
  const errors = entries.filter(([, value]) => stackOf(value) !== null);
  const inline = entries.filter(([, value]) => stackOf(value) === null);
  const head = [
    paint('dim', at.slice(11, 23)),
    paint(level, level.toUpperCase().padEnd(5)),
    escapeControls(message),
    ...inline.map(([key, value]) => `${paint('dim', `${escapeControls(key)}=`)}${inlineText(value)}`),
  ];
  return [head.join(' '), ...errors.map(([key, value]) => errorBlock(key, value))].join('\n');
}

const colours = { dim: 2, debug: 36, info: 32, warn: 33, error: 31 } as const;

function painted(colour: keyof typeof colours, text: string): string {
  return `\u001b[${colours[colour]}m${text}\u001b[0m`;
}

function plain(_colour: keyof typeof colours, text: string): string {
  return text;
}

function inlineText(value: Plain): string {
  if (typeof value === 'string') return escapeControls(/^[^\s"=]+$/.test(value) ? value : JSON.stringify(value));
  return escapeControls(JSON.stringify(value));
}

function errorBlock(key: string, error: Plain): string {
  const lines = [`  ${escapeControls(key)}: ${indent(stackOf(error) ?? '')}`];
  for (let cause = field(error, 'cause'); cause !== null; cause = field(cause, 'cause')) {
    lines.push(`  caused by: ${indent(stackOf(cause) ?? inlineText(cause))}`);
  }
  const errors = field(error, 'errors');
  if (Array.isArray(errors)) {
    for (const one of errors as readonly Plain[]) lines.push(`  one of: ${indent(stackOf(one) ?? inlineText(one))}`); // isArray says any[].
  }
  const details = Object.entries(error ?? {}).filter(([name]) => !stackKeys.has(name));
  if (details.length > 0) lines.push(`  with ${inlineText(Object.fromEntries(details))}`);
  return lines.join('\n');
}

const stackKeys: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'cause', 'errors']);

function indent(text: string): string {
  return escapeControls(text, { keepNewlines: true }).replaceAll('\n', '\n  ');
}

/** An error that became plain is what has a stack. */
function stackOf(value: Plain): string | null {
  const stack = field(value, 'stack');
  return typeof stack === 'string' ? stack : null;
}

function field(value: Plain, key: string): Plain {
  if (typeof value !== 'object' || value === null || !(key in value)) return null;
  return (value as { readonly [key: string]: Plain })[key] ?? null; // A list has none of the keys that are asked for.
}

/** What came from elsewhere must not move the cursor or change the colours of an operator's terminal. */
function escapeControls(text: string, { keepNewlines = false } = {}): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    keepNewlines && (character === '\n' || character === '\t')
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
