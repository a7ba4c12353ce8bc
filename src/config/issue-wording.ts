import type { z } from 'zod';
import { nearestName } from '../words/nearest-name.ts';
import { knownKeysAt, configKeys, type KeyPath } from './config-keys.ts';

/** One problem with a value or a key, before its place in the file is known. */
export interface KeyProblem {
  readonly path: KeyPath;
  readonly message: string;
  readonly part: 'key' | 'value';
}

/** Says what the schema found, in words for an operator. `root` is the value that was checked; it is not quoted. */
export function wordIssue(issue: z.core.$ZodIssue, root: unknown): readonly KeyProblem[] {
  const path = issue.path.map((segment) => (typeof segment === 'symbol' ? String(segment) : segment));
  const about = (message: string): readonly KeyProblem[] => [{ path, message, part: 'value' }];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: [...path, key], message: wordUnknownKey(path, key), part: 'key' }));
    case 'invalid_key':
      return [{ path, message: issue.issues[0]?.message ?? issue.message, part: 'key' }];
    case 'invalid_type':
      return about(wordType(issue.expected, valueAt(root, path)));
    case 'invalid_value':
      return about(wordChoice(issue.values, valueAt(root, path)));
    case 'too_small':
      return about(
        issue.origin === 'string' ? 'must not be empty' : `must be ${bound(issue, 'at least', 'more than')}`,
      );
    case 'too_big':
      return about(`must be ${bound(issue, 'at most', 'less than')}`);
    case 'custom':
    case 'invalid_format':
    case 'invalid_union':
    case 'invalid_element':
    case 'not_multiple_of':
      return about(issue.message);
  }
}

function wordUnknownKey(path: KeyPath, key: string): string {
  const known = knownKeysAt(path) ?? [];
  const near = nearestName(key, known);
  if (near !== null) return `is not a known key; did you mean \`${near}\`?`;
  const elsewhere = configKeys().find(
    ({ path: place }) => place.at(-1) === key && !place.includes('<name>') && !place.includes('[]'),
  );
  if (elsewhere !== undefined) return `is not a known key here; did you mean \`${elsewhere.path.join('.')}\`?`;
  return `is not a known key; known here: ${known.join(', ')}`;
}

const typeNames: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  object: 'a mapping of keys',
  record: 'a mapping of keys',
  array: 'a list',
};

function wordType(expected: string, value: unknown): string {
  if (value === undefined) return 'is missing';
  const hint = typeof value === 'string' && /^-?[\d.]+$/.test(value.trim()) ? '; leave out the quotes' : '';
  return `must be ${typeNames[expected] ?? expected}, and is ${wordActual(value)}${hint}`;
}

function wordActual(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (Number.isNaN(value)) return 'not a number';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a number with a fraction';
  return typeNames[typeof value] ?? typeof value;
}

function wordChoice(values: readonly unknown[], value: unknown): string {
  if (values.length === 1) return `only \`${String(values[0])}\` is supported`;
  const near = typeof value === 'string' ? nearestName(value, values.map(String)) : null;
  const hint = near === null ? '' : `; did you mean \`${near}\`?`;
  return `must be one of ${values.map((choice) => `\`${String(choice)}\``).join(', ')}${hint}`;
}

function bound(
  issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
  inclusiveWords: string,
  exclusiveWords: string,
): string {
  const limit = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  return `${issue.inclusive === false ? exclusiveWords : inclusiveWords} ${String(limit)}`;
}

function valueAt(root: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (value, segment) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, segment)
        ? (value as Readonly<Record<string | number, unknown>>)[segment] // hasOwn has just shown it.
        : undefined,
    root,
  );
}
