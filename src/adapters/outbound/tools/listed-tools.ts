/** A tool as its server describes it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ToolPage {
  readonly tools: readonly ListedTool[];
  /** Names the next page, if there is one. */
  readonly nextCursor: string | null;
}

/** Reads one answer to `tools/list`. A tool without a name is left out; the others don't suffer for it. */
export function readToolPage(result: unknown): ToolPage {
  const { tools, nextCursor } = asObject(result) ?? {};
  return {
    tools: Array.isArray(tools) ? tools.flatMap(readTool) : [],
    nextCursor: typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : null,
  };
}

function readTool(value: unknown): readonly ListedTool[] {
  const { name, description, inputSchema } = asObject(value) ?? {};
  if (typeof name !== 'string' || name === '') return [];
  return [
    {
      name,
      description: typeof description === 'string' ? description : '',
      // Providers refuse a schema that doesn't say that it is one of an object, whatever its server says.
      parameters: { ...asObject(inputSchema), type: 'object' },
    },
  ];
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  // Casting is safe: this is a plain JSON value.
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return undefined;
}
