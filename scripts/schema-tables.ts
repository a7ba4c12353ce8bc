import type { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The rows of a field and of the fields inside it: name, type, whether it is always there, meaning. */
export function fieldRows(name: string, schema: JsonSchema, required: boolean): readonly (readonly string[])[] {
  const meaning = [schema.description ?? '', defaultOf(schema)].filter((part) => part !== '').join(' ');
  const row = [`\`${name}\``, typeName(schema), required && !('default' in schema) ? 'yes' : 'no', meaning];
  const isList = schema.items !== undefined;
  return [row, ...objectRows(isList ? (schema.items as JsonSchema) : schema, `${name}${isList ? '[]' : ''}.`)];
}

/** The rows of the fields of an object, or of the forms that it may have. None where the schema has none of its own. */
export function objectRows(schema: JsonSchema, prefix = ''): readonly (readonly string[])[] {
  const forms = formsOf(schema);
  const keys = [...new Set(forms.flatMap((form) => Object.keys(form.properties ?? {})))];
  return keys.flatMap((key) => {
    const having = forms.filter((form) => form.properties?.[key] !== undefined);
    const fields = having.map((form) => form.properties?.[key] as JsonSchema);
    const isAlways = (form: JsonSchema): boolean => form.required?.includes(key) === true;
    if (having.length === forms.length && forms.length > 1) {
      if (fields.every((field) => field.const !== undefined)) return [markRow(prefix + key, forms, fields)];
    }
    const isSame = new Set(having.map((form, index) => JSON.stringify([fields[index], isAlways(form)]))).size === 1;
    const [first] = fields;
    if (isSame && having.length === forms.length && first !== undefined) {
      return fieldRows(prefix + key, first, forms.every(isAlways));
    }
    return having.flatMap((form, index) =>
      inForm(markOf(form), fieldRows(prefix + key, fields[index] ?? {}, isAlways(form))),
    );
  });
}

/** The field that tells the forms of an object apart. */
function markRow(name: string, forms: readonly JsonSchema[], fields: readonly JsonSchema[]): readonly string[] {
  const marks = fields.map(typeName);
  const meanings = forms.flatMap(({ description }, index) =>
    description === undefined ? [] : [`${marks[index] ?? ''}: ${description}`],
  );
  return [`\`${name}\``, marks.join(', '), 'yes', meanings.join(' ')];
}

function markOf(form: JsonSchema): string {
  const [key, mark] =
    Object.entries(form.properties ?? {}).find(([, field]) => (field as JsonSchema).const !== undefined) ?? [];
  return key === undefined ? '' : `\`${key}\` ${typeName(mark as JsonSchema)}`;
}

function inForm(mark: string, rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return rows.map(([name = '', type = '', always = '', meaning = '']) => [
    name,
    type,
    always,
    meaning === '' ? `Only with ${mark}.` : `Only with ${mark}. ${meaning}`,
  ]);
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

/** The object that a schema is, itself or beside null, or the objects of which it is one; those that others refer to are theirs. */
function formsOf(schema: JsonSchema): readonly JsonSchema[] {
  if (schema.properties !== undefined) return [schema];
  const alternatives = ((schema.anyOf ?? schema.oneOf ?? []) as readonly JsonSchema[]).filter(
    ({ type }) => type !== 'null',
  );
  return alternatives.every(({ properties }) => properties !== undefined) ? alternatives : [];
}

function linkTo(ref: string): string {
  const name = ref.split('/').at(-1) ?? ref;
  if (name === 'durable_event' || name === 'event') return `[${name}](events.md)`;
  return `[${name}](methods.md#${name})`;
}

function defaultOf(schema: JsonSchema): string {
  return 'default' in schema ? `Default: \`${JSON.stringify(schema.default)}\`.` : '';
}
