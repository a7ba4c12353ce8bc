import type { Environment } from './environment.ts';
import type { Config } from './schema.ts';
import type { ProviderKind } from './sections/model.ts';

/** The interfaces by which models are asked. */
type ModelInterface = 'openai-chat' | 'openai-responses' | 'openai-compatible' | 'anthropic' | 'google' | 'demo';

/** An address at which models answer, with the key that goes to this address and to no other. */
export interface ModelEndpoint {
  readonly provider: string;
  readonly kind: ProviderKind | 'demo';
  readonly interface: ModelInterface;
  /** Without a slash at its end. Null for the demo model, which has no address. */
  readonly baseUrl: string | null;
  /** The variable that its key is read from, or null where it has none. */
  readonly apiKeyVariable: string | null;
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the key that a file holds. Throws a `ConfigError` where there is none. */
export type ReadKeyFile = (path: string, key: string) => string;

/** The model of a session that names none. */
export interface DefaultTarget {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
}

/** Every endpoint that the configuration allows. The demo model is always among them. */
export function modelEndpoints(
  config: Config,
  environment: Environment,
  readKeyFile: ReadKeyFile,
): readonly ModelEndpoint[] {
  const keyOf = (variable: string | null): string | null =>
    variable === null ? null : (environment.getNamed(variable) ?? null);
  const named = Object.entries(config.providers).map(([name, provider]): ModelEndpoint => {
    const { api_key_env: apiKeyVariable, api_key_file: file, headers } = provider;
    const apiKey = file === null ? keyOf(apiKeyVariable) : readKeyFile(file, `providers.${name}.api_key_file`);
    const kind = provider.kind as ProviderKind; // The schema takes no other.
    return {
      provider: name,
      kind,
      interface: kind === 'openai' ? `openai-${provider.interface ?? 'responses'}` : kind,
      baseUrl: addressOf(provider),
      apiKeyVariable,
      apiKey,
      headers,
    };
  });
  const custom = customAddresses(config).map((baseUrl): ModelEndpoint => {
    const apiKeyVariable = 'OPENAI_API_KEY';
    const kind = 'openai-compatible';
    return {
      provider: 'custom',
      kind,
      interface: kind,
      baseUrl,
      apiKeyVariable,
      apiKey: keyOf(apiKeyVariable),
      headers: {},
    };
  });
  return [...custom, ...named, demoEndpoint];
}

/** Where a named provider is: the address that is written, else the vendor's own. Without a slash at its end. */
export function addressOf(provider: Config['providers'][string]): string | null {
  return withoutSlash(provider.base_url ?? vendorAddresses[provider.kind] ?? null);
}

const vendorAddresses: Readonly<Record<string, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

export function defaultTarget({ model, providers }: Config): DefaultTarget {
  const provider = model.provider ?? 'demo';
  const named = providers[provider];
  const address = provider === 'custom' ? model.base_url : named === undefined ? null : addressOf(named);
  return { provider, model: model.default ?? 'demo', baseUrl: withoutSlash(address) };
}

/** Work beside the conversation that may have a model of its own. */
export const auxiliaryTasks = ['compression', 'title_generation'] as const;
export type AuxiliaryTask = (typeof auxiliaryTasks)[number];

/** The model that does an auxiliary task, or null for the session's own. */
export function auxiliaryTarget(config: Config, task: AuxiliaryTask): DefaultTarget | null {
  const { provider, model, base_url: address } = config.auxiliary[task];
  const standard = defaultTarget(config);
  if (provider === null) return model === null ? null : { ...standard, model };
  const named = config.providers[provider];
  const own =
    provider === 'custom' ? (address ?? config.model.base_url) : named === undefined ? null : addressOf(named);
  const fallback = provider === standard.provider ? standard.model : 'demo';
  return { provider, model: model ?? fallback, baseUrl: withoutSlash(own) };
}

/** Every value that must never be seen, for the log's redaction. */
export function secretValues(endpoints: readonly ModelEndpoint[]): readonly string[] {
  return endpoints.flatMap(({ apiKey, headers }) => [...(apiKey === null ? [] : [apiKey]), ...Object.values(headers)]);
}

const demoEndpoint: ModelEndpoint = {
  provider: 'demo',
  kind: 'demo',
  interface: 'demo',
  baseUrl: null,
  apiKeyVariable: null,
  apiKey: null,
  headers: {},
};

/** Whether anything is asked of `provider: custom`: the default model, a fallback, or an auxiliary task. */
export function namesCustom({ model, providers, auxiliary }: Config): boolean {
  const fallbacks = Object.values(providers).flatMap((provider) => [
    ...provider.fallbacks,
    ...Object.values(provider.models).flatMap((entry) => entry.fallbacks),
  ]);
  const all = [model, ...model.fallbacks, ...fallbacks, ...auxiliaryTasks.map((task) => auxiliary[task])];
  return all.some(({ provider }) => provider === 'custom');
}

/** The key of `custom` goes to the addresses that the operator wrote beside it: the model's and those of auxiliary tasks. */
function customAddresses(config: Config): readonly string[] {
  const { model, auxiliary } = config;
  const custom = auxiliaryTasks.map((task) => auxiliary[task]).filter(({ provider }) => provider === 'custom');
  const addresses = [namesCustom(config) ? model.base_url : null, ...custom.map((task) => task.base_url)];
  return [...new Set(addresses.map(withoutSlash).filter((address) => address !== null))];
}

function withoutSlash<T extends string | null>(address: T): T {
  return (address === null ? null : address.replace(/\/+$/, '')) as T; // A text stays a text, and null stays null.
}
