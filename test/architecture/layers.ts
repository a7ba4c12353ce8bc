/**
 * Who may import whom. Everything that is not listed is denied, and type-only imports count like any other.
 *
 * To allow something, add it to the row of the layer that needs it. To add a layer or an adapter family, add a row:
 * a file under src/ that no row covers is a violation.
 */
export interface Layer {
  /** Relative to src/: a folder, or one file. Rows don't overlap. */
  readonly path: string;
  /** Layers it may import, as path prefixes: 'core' covers all of core/. A layer always may import itself. */
  readonly layers: readonly string[];
  /** Layers it may reach by `await import(…)` only. */
  readonly dynamicLayers?: readonly string[];
  /** npm packages. A package stands for its subpaths too. */
  readonly packages: readonly string[];
  /** Node modules, written with `node:`. */
  readonly nodeModules: readonly string[];
}

// An outbound adapter fulfils ports. It has no business with use cases, with the wire, or with another family.
const outboundLayers = ['core/domain', 'core/ports'];
const inboundLayers = ['core', 'protocol'];

export const layers: readonly Layer[] = [
  { path: 'core/domain', layers: [], packages: [], nodeModules: [] },
  { path: 'core/ports', layers: ['core/domain'], packages: [], nodeModules: [] },
  { path: 'core/use-cases', layers: ['core/domain', 'core/ports'], packages: [], nodeModules: [] },

  // What several of the outer layers say to people.
  { path: 'words', layers: [], packages: [], nodeModules: [] },

  { path: 'protocol', layers: ['words'], packages: ['zod'], nodeModules: [] },

  {
    path: 'adapters/inbound/websocket',
    layers: inboundLayers,
    packages: ['ws'],
    nodeModules: ['node:http', 'node:net', 'node:stream', 'node:crypto'],
  },
  { path: 'adapters/inbound/rpc', layers: inboundLayers, packages: ['zod'], nodeModules: [] },
  { path: 'adapters/inbound/http', layers: inboundLayers, packages: [], nodeModules: ['node:http', 'node:net'] },

  { path: 'adapters/outbound/memory', layers: outboundLayers, packages: [], nodeModules: [] },
  {
    path: 'adapters/outbound/sqlite',
    layers: outboundLayers,
    packages: ['better-sqlite3'],
    nodeModules: ['node:worker_threads', 'node:fs', 'node:fs/promises', 'node:path', 'node:url', 'node:zlib'],
  },
  {
    path: 'adapters/outbound/model',
    layers: outboundLayers,
    packages: [
      '@ai-sdk/provider',
      '@ai-sdk/openai-compatible',
      '@ai-sdk/openai',
      '@ai-sdk/anthropic',
      '@ai-sdk/google',
    ],
    nodeModules: ['node:crypto', 'node:http', 'node:https'],
  },
  { path: 'adapters/outbound/catalog', layers: outboundLayers, packages: [], nodeModules: ['node:fs'] },
  {
    path: 'adapters/outbound/tokens',
    layers: outboundLayers,
    packages: ['gpt-tokenizer'],
    nodeModules: ['node:worker_threads'],
  },
  {
    path: 'adapters/outbound/tools',
    layers: outboundLayers,
    packages: ['@modelcontextprotocol/client'],
    nodeModules: ['node:child_process', 'node:crypto'],
  },
  { path: 'adapters/outbound/logging', layers: outboundLayers, packages: ['winston'], nodeModules: ['node:util'] },
  {
    path: 'adapters/outbound/system',
    layers: outboundLayers,
    packages: ['uuid'],
    nodeModules: ['node:crypto', 'node:fs', 'node:fs/promises', 'node:os', 'node:path', 'node:timers/promises'],
  },

  {
    path: 'config',
    layers: ['words'],
    packages: ['zod', 'yaml', 'env-paths'],
    nodeModules: ['node:fs', 'node:fs/promises', 'node:path', 'node:util'],
  },
  {
    path: 'composition',
    layers: ['core', 'protocol', 'adapters', 'config'],
    packages: ['inversify', 'reflect-metadata'],
    nodeModules: [
      'node:crypto',
      'node:fs',
      'node:fs/promises',
      'node:http',
      'node:os',
      'node:path',
      'node:process',
      'node:url',
      'node:worker_threads',
    ],
  },

  { path: 'client', layers: ['protocol'], packages: ['ws'], nodeModules: [] },
  {
    path: 'cli',
    layers: ['protocol', 'client', 'config'],
    dynamicLayers: ['main.ts'],
    packages: ['commander'],
    nodeModules: [
      'node:child_process',
      'node:fs',
      'node:fs/promises',
      'node:os',
      'node:path',
      'node:process',
      'node:readline',
      'node:readline/promises',
      'node:timers/promises',
      'node:url',
      'node:util',
    ],
  },
  { path: 'main.ts', layers: ['config', 'composition'], packages: [], nodeModules: ['node:process'] },
];
