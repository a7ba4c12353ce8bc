import { isMap, isSeq, LineCounter, parseDocument, visit, type Document, type Node, type Pair } from 'yaml';
import { problemOf, type ConfigProblem } from './config-error.ts';
import type { KeyPath } from './config-keys.ts';

/** A YAML file that was read, and where in it each key and value stands. */
interface YamlSource {
  readonly value: unknown;
  /** A problem at the value of a path, or at its key; at the nearest place around it when it isn't there. */
  problemAt(path: KeyPath, message: string, part?: 'key' | 'value'): ConfigProblem;
}

export type ParsedYaml =
  | { readonly kind: 'parsed'; readonly source: YamlSource }
  | { readonly kind: 'broken'; readonly problems: readonly ConfigProblem[] };

/** Reads one YAML document. Tags that are not YAML's own and aliases to nothing count as errors. */
export function parseYaml(text: string, file: string): ParsedYaml {
  const lines = new LineCounter();
  // Its own warnings would go to stderr and quote the file.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    return { kind: 'broken', problems: faults.map(({ message, pos }) => at(pos[0], sentence(message), null)) };
  }
  const lost = aliasesToNothing(document);
  if (lost.length > 0) {
    return {
      kind: 'broken',
      problems: lost.map((offset) => at(offset, sentence('Alias to no anchor before it'), null)),
    };
  }
  try {
    return { kind: 'parsed', source: { value: document.toJS(), problemAt } };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'broken', problems: [problemOf(file, sentence(message))] };
  }

  function problemAt(path: KeyPath, message: string, part: 'key' | 'value' = 'value'): ConfigProblem {
    return at(offsetOf(document, path, part), message, path.length === 0 ? null : formatPath(path));
  }

  function at(offset: number, message: string, key: string | null): ConfigProblem {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1), key, message };
  }
}

function aliasesToNothing(document: Document): readonly number[] {
  const offsets: number[] = [];
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) === undefined) offsets.push(alias.range?.[0] ?? 0);
    },
  });
  return offsets;
}

/** As `gateway.allowed_origins[0]`. */
function formatPath(path: KeyPath): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`))
    .join('');
}

function offsetOf(document: Document, path: KeyPath, part: 'key' | 'value'): number {
  let node = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const [index, segment] of path.entries()) {
    const step = stepInto(node, segment);
    if (step === undefined) return offset;
    const isLast = index === path.length - 1;
    offset = (isLast && part === 'key' ? step.key : (step.value ?? step.key))?.range?.[0] ?? offset;
    node = step.value;
  }
  return offset;
}

function stepInto(node: Node | null, segment: string | number): { key: Node | null; value: Node | null } | undefined {
  if (isSeq(node) && typeof segment === 'number') return { key: null, value: asNode(node.items[segment]) };
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => keyText(key) === String(segment));
  return pair === undefined ? undefined : { key: asNode(pair.key), value: asNode(pair.value) };
}

function keyText(key: Pair['key']): string | undefined {
  return typeof key === 'object' && key !== null && 'value' in key ? String(key.value) : undefined;
}

function asNode(item: unknown): Node | null {
  return typeof item === 'object' && item !== null && 'range' in item ? (item as Node) : null; // Nodes are what has a range.
}

function sentence(message: string): string {
  return `not valid YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}
