import { z } from 'zod';
import { configSchema } from './schema.ts';

export type KeyPath = readonly (string | number)[];

/** One key of the configuration, as the reference page shows it. */
export interface ConfigKey {
  /** A name that the operator chooses is `<name>`, and the entries of a list are `[]`. */
  readonly path: readonly string[];
  readonly type: string;
  /** Absent where the key must be given. */
  readonly default?: unknown;
  readonly description: string;
  /** Whether it has keys of its own. */
  readonly section: boolean;
}

interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

// The generated JSON Schema uses only the keywords above; the test of the reference page would show any other.
const root = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as SchemaNode;

/** Every key, each section before its keys, in the order of the schema. */
export function configKeys(): readonly ConfigKey[] {
  return keysBelow(root, []);
}

/** As it is written in prose: `model.fallbacks[].provider`. */
export function formatKey(path: readonly string[]): string {
  return path.join('.').replaceAll('.[]', '[]');
}

/** The keys that are known at a place, or null where the operator chooses them. */
export function knownKeysAt(path: KeyPath): readonly string[] | null {
  const properties = nodeAt(path)?.properties;
  return properties === undefined ? null : Object.keys(properties);
}

function nodeAt(path: KeyPath): SchemaNode | undefined {
  let node: SchemaNode | undefined = root;
  for (const segment of path) {
    if (node === undefined) return undefined;
    node = typeof segment === 'number' ? node.items : (node.properties?.[segment] ?? namedChild(node));
  }
  return node;
}

function namedChild(node: SchemaNode): SchemaNode | undefined {
  return typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;
}

function keysBelow(node: SchemaNode, path: readonly string[]): readonly ConfigKey[] {
  if (node.items !== undefined) return keysBelow(node.items, [...path, '[]']);
  const named = namedChild(node);
  const children: readonly (readonly [string, SchemaNode])[] = [
    ...Object.entries(node.properties ?? {}),
    ...(named?.properties === undefined ? [] : ([['<name>', named]] as const)),
  ];
  return children.flatMap(([name, child]) => [keyOf(child, [...path, name]), ...keysBelow(child, [...path, name])]);
}

function keyOf(node: SchemaNode, path: readonly string[]): ConfigKey {
  return {
    path,
    type: typeOf(node),
    ...('default' in node ? { default: node.default } : {}),
    description: node.description ?? '',
    section: node.properties !== undefined || namedChild(node)?.properties !== undefined,
  };
}

function typeOf(node: SchemaNode): string {
  if (node.const !== undefined) return `\`${JSON.stringify(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (node.anyOf !== undefined) return typeOf(node.anyOf.find((branch) => branch.type !== 'null') ?? {});
  const type = typeof node.type === 'string' ? node.type : node.type?.find((name) => name !== 'null');
  if (type === 'array') return `list of ${plural(typeOf(node.items ?? {}))}`;
  if (type === 'object') return 'mapping';
  if (type === 'integer') return `whole number${range(node)}`;
  if (type === 'number') return `number${range(node)}`;
  return type === 'string' ? 'text' : (type ?? 'any');
}

function plural(type: string): string {
  return type === 'text' ? 'texts' : `${type}s`;
}

function range({ minimum, exclusiveMinimum, maximum }: SchemaNode): string {
  const from = minimum === undefined ? `more than ${exclusiveMinimum ?? 0}` : `${minimum}`;
  return `, ${from} to ${maximum ?? 'any'}`;
}
