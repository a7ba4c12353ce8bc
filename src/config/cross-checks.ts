import { nearestName } from '../words/nearest-name.ts';
import type { KeyPath } from './config-keys.ts';
import { addressOf, auxiliaryTasks, namesCustom } from './model-endpoints.ts';
import type { AuxiliaryTask, DefaultTarget } from './model-endpoints.ts';
import { isDefaultModel, modelSettings, namedModels } from './model-settings.ts';
import { builtInProviders } from './sections/model.ts';
import type { Config } from './schema.ts';

/** What is wrong with keys together that are each well formed. */
export interface CrossProblem {
  /** The key to point at first, then the others that the problem depends on. */
  readonly concerns: readonly [KeyPath, ...KeyPath[]];
  readonly message: string;
}

/** Every combination that could never work. Refused at start, so that nobody finds out at the first long transcript. */
export function crossCheck(config: Config): readonly CrossProblem[] {
  return [
    ...checkProviders(config),
    ...checkDefaultModel(config),
    ...checkFallbacks(config),
    ...auxiliaryTasks.flatMap((task) => checkAuxiliaryModel(config, task)),
    ...checkWindow(config),
    ...checkToolsets(config),
    ...checkTools(config),
    ...checkLimits(config),
  ];
}

function checkProviders({ providers }: Config): readonly CrossProblem[] {
  return Object.entries(providers).flatMap(([name, provider]): readonly CrossProblem[] => {
    const path: KeyPath = ['providers', name];
    const problems: CrossProblem[] = [];
    if (provider.kind === 'openai-compatible' && provider.base_url === null) {
      const message = 'is missing: `kind: openai-compatible` needs the address of its server';
      problems.push({ concerns: [[...path, 'base_url'], path], message });
    }
    if (provider.interface !== null && provider.kind !== 'openai') {
      const message = 'means something with `kind: openai` only';
      problems.push({
        concerns: [
          [...path, 'interface'],
          [...path, 'kind'],
        ],
        message,
      });
    }
    if (provider.api_key_env !== null && provider.api_key_file !== null) {
      const message = 'and `api_key_env` name the same key twice; keep one of them';
      problems.push({
        concerns: [
          [...path, 'api_key_file'],
          [...path, 'api_key_env'],
        ],
        message,
      });
    }
    return problems;
  });
}

/** A chain is not followed further: the fallbacks of a fallback don't count. */
function checkFallbacks({ model, providers }: Config): readonly CrossProblem[] {
  const lists: readonly (readonly [KeyPath, Config['model']['fallbacks']])[] = [
    [['model', 'fallbacks'], model.fallbacks],
    ...Object.entries(providers).flatMap(([name, provider]) => [
      [['providers', name, 'fallbacks'], provider.fallbacks] as const,
      ...Object.entries(provider.models).map(
        ([each, entry]) => [['providers', name, 'models', each, 'fallbacks'], entry.fallbacks] as const,
      ),
    ]),
  ];
  return lists.flatMap(([path, list]) =>
    list.flatMap(({ provider }, index) => {
      const problems = checkProvider(provider, [...path, index, 'provider'], providers);
      if (problems.length > 0 || provider !== 'custom' || model.base_url !== null) return problems;
      const message = 'has no address: `provider: custom` is the server at `model.base_url`';
      return [
        {
          concerns: [
            [...path, index, 'provider'],
            ['model', 'base_url'],
          ] as const,
          message,
        },
      ];
    }),
  );
}

function checkDefaultModel(config: Config): readonly CrossProblem[] {
  const { model, providers } = config;
  const { provider } = model;
  const problems: CrossProblem[] = [];
  if (provider === null) {
    const stray = model.default !== null ? 'default' : model.base_url !== null ? 'base_url' : null;
    if (stray === null) return [];
    const message = 'means nothing without `model.provider`; for an OpenAI-compatible server write `provider: custom`';
    return [
      {
        concerns: [
          ['model', stray],
          ['model', 'provider'],
        ],
        message,
      },
    ];
  }
  problems.push(...checkProvider(provider, ['model', 'provider'], providers));
  if (provider !== 'demo' && model.default === null) {
    problems.push({
      concerns: [
        ['model', 'default'],
        ['model', 'provider'],
      ],
      message: 'is missing: name the model',
    });
  }
  if (provider === 'custom' && model.base_url === null) {
    const message = 'is missing: `provider: custom` needs the address of its server';
    problems.push({
      concerns: [
        ['model', 'base_url'],
        ['model', 'provider'],
      ],
      message,
    });
  }
  // Beside a named provider it is the address of the `custom` that a fallback or an auxiliary task names.
  if (!namesCustom(config)) problems.push(...checkBaseUrl(provider, model.base_url, ['model'], providers));
  return problems;
}

function checkAuxiliaryModel({ model, auxiliary, providers }: Config, task: AuxiliaryTask): readonly CrossProblem[] {
  const { provider, base_url: address } = auxiliary[task];
  const section: KeyPath = ['auxiliary', task];
  if (provider === null) {
    if (address === null) return [];
    const message = `means nothing without \`auxiliary.${task}.provider\`; for an OpenAI-compatible server write \`provider: custom\``;
    return [
      {
        concerns: [
          [...section, 'base_url'],
          [...section, 'provider'],
        ],
        message,
      },
    ];
  }
  const problems = [...checkProvider(provider, [...section, 'provider'], providers)];
  if (provider === 'custom' && (address ?? model.base_url) === null) {
    const message = 'is missing: `provider: custom` needs the address of its server';
    problems.push({
      concerns: [
        [...section, 'base_url'],
        [...section, 'provider'],
        ['model', 'base_url'],
      ],
      message,
    });
  }
  if (provider !== 'demo' && auxiliary[task].model === null && provider !== model.provider) {
    const message = "is missing: the session's model is one of another provider";
    problems.push({
      concerns: [
        [...section, 'model'],
        [...section, 'provider'],
        ['model', 'provider'],
      ],
      message,
    });
  }
  return [...problems, ...checkBaseUrl(provider, address, section, providers)];
}

function checkProvider(name: string, path: KeyPath, providers: Config['providers']): readonly CrossProblem[] {
  const known = [...builtInProviders, ...Object.keys(providers)];
  if (known.includes(name)) return [];
  const near = nearestName(name, known);
  const hint = near === null ? `known: ${known.join(', ')}` : `did you mean \`${near}\`?`;
  return [{ concerns: [path, ['providers']], message: `names a provider that \`providers\` doesn't define; ${hint}` }];
}

/** A key goes only to the address that it is configured for, so a named provider has one address. */
function checkBaseUrl(
  provider: string,
  address: string | null,
  section: KeyPath,
  providers: Config['providers'],
): readonly CrossProblem[] {
  if (address === null || provider === 'custom') return [];
  const named = providers[provider];
  if (named !== undefined && addressOf(named) === address.replace(/\/+$/, '')) return [];
  const message = `belongs to \`provider: custom\` only; the address of \`${provider}\` is fixed elsewhere`;
  return [{ concerns: [[...section, 'base_url'], [...section, 'provider'], ['providers']], message }];
}

/** No model has less, and hardly a sentence would fit. */
const smallestWindowTokens = 256;

/** Of every model that the configuration names. What the catalogue says of one is clamped and never refused. */
function checkWindow(config: Config): readonly CrossProblem[] {
  const { model, compression } = config;
  const problems: CrossProblem[] = namedModels(config).flatMap((named) => checkWindowOf(config, named));
  const window = model.context_length;
  const trigger = compression.threshold_tokens;
  if (window !== null && trigger !== null && trigger > window) {
    const message = `(${trigger}) must not be greater than model.context_length (${window}): a transcript can't grow that long`;
    problems.push({
      concerns: [
        ['compression', 'threshold_tokens'],
        ['model', 'context_length'],
      ],
      message,
    });
  }
  return problems;
}

function checkWindowOf(
  config: Config,
  { provider, model }: Pick<DefaultTarget, 'provider' | 'model'>,
): readonly CrossProblem[] {
  const { contextTokens: window, outputTokens: reserve } = modelSettings(config, provider, model);
  if (window === null) return [];
  const pathOf = (key: 'context_length' | 'max_output_tokens'): KeyPath =>
    isDefaultModel(config, provider, model) && config.model[key] !== null
      ? ['model', key]
      : ['providers', provider, 'models', model, key];
  const windowPath = pathOf('context_length');
  if (window < smallestWindowTokens) {
    const message = `(${window}) must be at least ${smallestWindowTokens}: it is the whole window in tokens, input and output together`;
    return [{ concerns: [windowPath], message }];
  }
  if (reserve === null || reserve < window) return [];
  const message = `(${reserve}) must be smaller than ${windowPath.join('.')} (${window}): the answer would leave no room for a prompt`;
  return [{ concerns: [pathOf('max_output_tokens'), windowPath], message }];
}

function checkToolsets({ toolsets, platform_toolsets: byPlatform }: Config): readonly CrossProblem[] {
  const known = Object.keys(toolsets);
  return Object.entries(byPlatform).flatMap(([platform, names]) =>
    names.flatMap((name, index): readonly CrossProblem[] => {
      if (known.includes(name)) return [];
      const near = nearestName(name, known);
      const hint = near === null ? '' : `; did you mean \`${near}\`?`;
      const message = `names a toolset that \`toolsets\` doesn't define${hint}`;
      return [{ concerns: [['platform_toolsets', platform, index], ['toolsets']], message }];
    }),
  );
}

/** The tools that the gateway has by itself. */
const builtInTools = ['builtin', 'builtin.search_history', 'builtin.time'];

/** An entry of a toolset names a server that is configured, or one of its tools, whose name begins with no dot. */
function checkTools({ toolsets, mcp_servers: servers }: Config): readonly CrossProblem[] {
  const names = Object.keys(servers);
  const known = [...names, ...builtInTools];
  const isToolOf = (server: string, entry: string): boolean =>
    entry.startsWith(`${server}.`) && /^[^.]/.test(entry.slice(server.length + 1));
  return Object.entries(toolsets).flatMap(([toolset, entries]) =>
    entries.flatMap((entry, index): readonly CrossProblem[] => {
      if (known.includes(entry) || names.some((server) => isToolOf(server, entry))) return [];
      const near = nearestName(entry, known);
      const hint = near === null ? `known: ${known.join(', ')}` : `did you mean \`${near}\`?`;
      const message = `names a tool of a server that \`mcp_servers\` doesn't define; ${hint}`;
      return [{ concerns: [['toolsets', toolset, index], ['mcp_servers']], message }];
    }),
  );
}

function checkLimits({ gateway }: Config): readonly CrossProblem[] {
  if (gateway.max_batch <= gateway.max_calls_in_flight) return [];
  const message = `(${gateway.max_batch}) must not be greater than gateway.max_calls_in_flight (${gateway.max_calls_in_flight}): a full batch would always be refused`;
  return [
    {
      concerns: [
        ['gateway', 'max_batch'],
        ['gateway', 'max_calls_in_flight'],
      ],
      message,
    },
  ];
}
