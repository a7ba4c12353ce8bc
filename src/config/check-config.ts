import type { ConfigProblem } from './config-error.ts';
import { knownKeysAt, type KeyPath } from './config-keys.ts';
import { crossCheck } from './cross-checks.ts';
import { wordIssue, type KeyProblem } from './issue-wording.ts';
import { configSchema, type Config } from './schema.ts';
import { parseYaml } from './yaml-source.ts';

export type CheckedConfig =
  | { readonly kind: 'valid'; readonly config: Config }
  /** Every problem, in the order of the file. */
  | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] };

/** Judges the text of a configuration file. `file` is only its name in problems. */
export function checkConfig(text: string, file: string): CheckedConfig {
  const parsed = parseYaml(text, file);
  if (parsed.kind === 'broken') return { kind: 'invalid', problems: parsed.problems };
  const { source } = parsed;
  const found = check(withoutEmpty(source.value ?? {}, []));
  if (found.kind === 'valid') return found;
  const problems = found.problems.map(({ path, message, part }) => source.problemAt(path, message, part));
  return { kind: 'invalid', problems: problems.sort(inFileOrder) };
}

type Checked =
  | { readonly kind: 'valid'; readonly config: Config }
  | { readonly kind: 'invalid'; readonly problems: readonly KeyProblem[] };

function check(value: unknown): Checked {
  const result = configSchema.safeParse(value);
  if (result.success) {
    const problems = crossProblems(result.data, []);
    return problems.length === 0 ? { kind: 'valid', config: result.data } : { kind: 'invalid', problems };
  }
  const problems = result.error.issues.flatMap((issue) => wordIssue(issue, value));
  const wrong = problems.map(({ path }) => path);
  // What is well formed is checked as well, so that one look at the list is enough.
  const rest = configSchema.safeParse(wrong.map(upToList).reduce(withoutPath, value));
  return { kind: 'invalid', problems: rest.success ? [...problems, ...crossProblems(rest.data, wrong)] : problems };
}

/** Leaves out what depends on a key that is wrong by itself: it would only be a consequence. */
function crossProblems(config: Config, wrong: readonly KeyPath[]): readonly KeyProblem[] {
  return crossCheck(config)
    .filter(({ concerns }) => !concerns.some((concern) => wrong.some((path) => overlap(path, concern))))
    .map(({ concerns: [path], message }) => ({ path, message, part: 'value' }));
}

function overlap(a: KeyPath, b: KeyPath): boolean {
  return a.slice(0, b.length).every((segment, index) => segment === b[index]);
}

/** `gateway:` with nothing behind it means the same as no `gateway` at all. Below names that the operator chose it doesn't. */
function withoutEmpty(value: unknown, path: KeyPath): unknown {
  if (!isMapping(value)) return value;
  const known = knownKeysAt(path) ?? [];
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, child]) => child !== null || !known.includes(key))
      .map(([key, child]) => [key, withoutEmpty(child, [...path, key])]),
  );
}

/** A list with a wrong element is left out as a whole, since its other elements would change their places. */
function upToList(path: KeyPath): KeyPath {
  const index = path.findIndex((segment) => typeof segment === 'number');
  return index === -1 ? path : path.slice(0, index);
}

function withoutPath(value: unknown, path: KeyPath): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return {};
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]) => {
      if (key !== String(first)) return [[key, child]];
      return rest.length === 0 ? [] : [[key, withoutPath(child, rest)]];
    }),
  );
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function inFileOrder(a: ConfigProblem, b: ConfigProblem): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}
