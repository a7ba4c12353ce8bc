import { z } from 'zod';
import { commonReasons, errorData, errors } from './errors.ts';
import { anyDurableEvent, anyEvent } from './events.ts';
import { eventMethod } from './json-rpc.ts';
import { protocolName } from './limits.ts';
import { message } from './message.ts';
import type { MethodDefinition } from './method.ts';
import { receipt } from './receipt.ts';
import { methods } from './registry.ts';
import { contextReport, pendingItem, sessionSnapshot, sessionSummary } from './snapshot.ts';

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** Schemas that many results share, by the name under which the document keeps them. */
const sharedSchemas = {
  receipt,
  message,
  pending_item: pendingItem,
  context_report: contextReport,
  snapshot: sessionSnapshot,
  session: sessionSummary,
  durable_event: anyDurableEvent,
  event: anyEvent,
  error_data: errorData,
} as const satisfies Readonly<Record<string, z.ZodType>>;

export interface OpenRpcDocument {
  readonly openrpc: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly methods: readonly OpenRpcMethod[];
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly errors: Readonly<Record<string, OpenRpcError>>;
  };
  /** OpenRPC has no word for what a server sends unasked. */
  readonly 'x-notifications': readonly OpenRpcContent[];
}

interface OpenRpcMethod {
  readonly name: string;
  readonly summary: string;
  readonly paramStructure: 'by-name';
  readonly params: readonly OpenRpcContent[];
  readonly result: OpenRpcContent;
  readonly errors: readonly { readonly $ref: string }[];
}

interface OpenRpcContent {
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

interface OpenRpcError {
  readonly code: number;
  readonly message: string;
}

/** The OpenRPC document of the protocol, made from the method definitions. */
export function openRpcDocument(): OpenRpcDocument {
  const { results, shared } = resultSchemas();
  return {
    openrpc: '1.3.2',
    info: {
      title: 'Holdfast',
      version: protocolName,
      description: 'JSON-RPC 2.0, one message for each WebSocket text frame. Parameters are given by name.',
    },
    methods: methods.map((method) => describeMethod(method, results.get(method.name) ?? {})),
    components: {
      schemas: shared,
      errors: Object.fromEntries(
        Object.entries(errors).map(([reason, { code, summary }]) => [
          reason,
          { code, message: `${reason}: ${summary}` },
        ]),
      ),
    },
    'x-notifications': [{ name: eventMethod, schema: { $ref: refTo('event') } }],
  };
}

function describeMethod(method: MethodDefinition, result: JsonSchema): OpenRpcMethod {
  const params = paramsSchema(method);
  const required = new Set(params.required ?? []);
  return {
    name: method.name,
    summary: method.summary,
    paramStructure: 'by-name',
    params: Object.entries(params.properties ?? {}).map(([name, schema]) => content(name, schema, required.has(name))),
    result: { name: 'result', schema: result },
    errors: [...method.errors, ...commonReasons].map((reason) => ({ $ref: `#/components/errors/${reason}` })),
  };
}

function content(name: string, schema: JsonSchema | boolean, required: boolean): OpenRpcContent {
  const { description, ...rest } = typeof schema === 'boolean' ? {} : schema;
  return { name, required, ...(description === undefined ? {} : { description }), schema: rest };
}

/** OpenRPC speaks JSON Schema draft 7. */
function paramsSchema(method: MethodDefinition): JsonSchema {
  return withoutHeader(z.toJSONSchema(method.params, { io: 'input', target: 'draft-7', override: withoutDatePattern }));
}

/** The results' schemas refer to the shared ones, so that each is there once. */
function resultSchemas(): { results: Map<string, JsonSchema>; shared: Record<string, JsonSchema> } {
  const registry = z.registry<{ id: string }>();
  for (const [name, schema] of Object.entries(sharedSchemas)) registry.add(schema, { id: name });
  const inline = methods.filter(({ result }) => !registry.has(result));
  for (const { name, result } of inline) registry.add(result, { id: name });
  const { schemas } = z.toJSONSchema(registry, {
    io: 'output',
    target: 'draft-7',
    uri: refTo,
    override: withoutDatePattern,
  });
  const schemaOf = (name: string): JsonSchema => withoutHeader(schemas[name] ?? {});
  const sharedName = (result: z.ZodType): string | undefined =>
    Object.entries(sharedSchemas).find(([, schema]) => schema === result)?.[0];
  return {
    results: new Map(
      methods.map(({ name, result }) => {
        const shared = sharedName(result);
        return [name, shared === undefined ? schemaOf(name) : { $ref: refTo(shared) }];
      }),
    ),
    shared: Object.fromEntries(Object.keys(sharedSchemas).map((name) => [name, schemaOf(name)])),
  };
}

/** `format` says it better than the long pattern beside it. */
function withoutDatePattern({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`;
}

function withoutHeader(schema: JsonSchema): JsonSchema {
  const { $schema: _, $id: __, ...rest } = schema;
  return rest;
}
