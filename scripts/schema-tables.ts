import type { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The rows of a field and of the fields inside it: name, type, whether it is always there, meaning. */
export function fieldRows(name: string, schema: JsonSchema, required: boolean): readonly (readonly string[])[] {
  const meaning = [schema.description ?? '', defaultOf(schema)].filter((part) => part !== '').join(' ');
  const row = [`\`${name}\``, typeName(schema), required && !('default' in schema) ? 'yes' : 'no', meaning];
  const inner = innerObject(schema);
  if (inner === undefined) return [row];
  const { path, object } = inner;
  const innerRequired = new Set(object.required ?? []);
  const rows = Object.entries(object.properties ?? {}).flatMap(([key, field]) =>
    fieldRows(`${name}${path}.${key}`, field as JsonSchema, innerRequired.has(key)),
  );
  return [row, ...rows];
}

/** A type in words; a shared one with a link to its section. */
export function typeName(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return linkTo(schema.$ref);
  const alternatives = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (alternatives !== undefined) {
    return [...new Set((alternatives as readonly JsonSchema[]).map(typeName))].join(' or ');
  }
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.format === 'date-time') return 'instant';
  if (schema.type === 'array') {
    const items = schema.items as JsonSchema | undefined;
    return items === undefined || items.not !== undefined ? 'empty list' : `list of ${typeName(items)}`;
  }
  return Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'anything');
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The object that a field holds, itself or in a list or beside null, where it has a form of its own. */
function innerObject(schema: JsonSchema): { readonly path: string; readonly object: JsonSchema } | undefined {
  if (schema.properties !== undefined) return { path: '', object: schema };
  const items = schema.items as JsonSchema | undefined;
  if (items?.properties !== undefined) return { path: '[]', object: items };
  const [only, ...others] = ((schema.anyOf ?? []) as readonly JsonSchema[]).filter(({ type }) => type !== 'null');
  return only?.properties !== undefined && others.length === 0 ? { path: '', object: only } : undefined;
}

function linkTo(ref: string): string {
  const name = ref.split('/').at(-1) ?? ref;
  if (name === 'durable_event' || name === 'event') return `[${name}](events.md)`;
  return `[${name}](methods.md#${name})`;
}

function defaultOf(schema: JsonSchema): string {
  return 'default' in schema ? `Default: \`${JSON.stringify(schema.default)}\`.` : '';
}
