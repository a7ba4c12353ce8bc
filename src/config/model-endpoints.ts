import type { Environment } from './environment.ts';
import type { Config } from './schema.ts';

/** An address at which models answer, with the key that goes to this address and to no other. */
export interface ModelEndpoint {
  readonly provider: string;
  readonly kind: 'openai-compatible' | 'demo';
  /** Without a slash at its end. Null for the demo model, which has no address. */
  readonly baseUrl: string | null;
  /** The variable that its key is read from, or null where it has none. */
  readonly apiKeyVariable: string | null;
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The model of a session that names none. */
export interface DefaultTarget {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string | null;
}

/** Every endpoint that the configuration allows. The demo model is always among them. */
export function modelEndpoints(config: Config, environment: Environment): readonly ModelEndpoint[] {
  const named = Object.entries(config.providers).map(([name, provider]) =>
    endpoint(name, provider.base_url, provider.api_key_env, provider.headers, environment),
  );
  const custom = customAddresses(config).map((address) =>
    endpoint('custom', address, 'OPENAI_API_KEY', {}, environment),
  );
  return [...custom, ...named, demoEndpoint];
}

export function defaultTarget({ model, providers }: Config): DefaultTarget {
  const provider = model.provider ?? 'demo';
  const address = provider === 'custom' ? model.base_url : providers[provider]?.base_url;
  return { provider, model: model.default ?? 'demo', baseUrl: withoutSlash(address ?? null) };
}

/** The model that writes summaries, or null for the session's own. */
export function summaryTarget(config: Config): DefaultTarget | null {
  const { provider, model, base_url: address } = config.auxiliary.compression;
  const standard = defaultTarget(config);
  if (provider === null) return model === null ? null : { ...standard, model };
  const own = provider === 'custom' ? (address ?? config.model.base_url) : config.providers[provider]?.base_url;
  const fallback = provider === standard.provider ? standard.model : 'demo';
  return { provider, model: model ?? fallback, baseUrl: withoutSlash(own ?? null) };
}

/** Every value that must never be seen, for the log's redaction. */
export function secretValues(endpoints: readonly ModelEndpoint[]): readonly string[] {
  return endpoints.flatMap(({ apiKey, headers }) => [...(apiKey === null ? [] : [apiKey]), ...Object.values(headers)]);
}

const demoEndpoint: ModelEndpoint = {
  provider: 'demo',
  kind: 'demo',
  baseUrl: null,
  apiKeyVariable: null,
  apiKey: null,
  headers: {},
};

/** The key of `custom` goes to the addresses that the operator wrote beside it: the model's and the summary model's. */
function customAddresses({ model, auxiliary }: Config): readonly string[] {
  const addresses = [
    model.provider === 'custom' || auxiliary.compression.provider === 'custom' ? model.base_url : null,
    auxiliary.compression.provider === 'custom' ? auxiliary.compression.base_url : null,
  ];
  return [...new Set(addresses.map(withoutSlash).filter((address) => address !== null))];
}

function endpoint(
  provider: string,
  baseUrl: string,
  apiKeyVariable: string | null,
  headers: Readonly<Record<string, string>>,
  environment: Environment,
): ModelEndpoint {
  const apiKey = apiKeyVariable === null ? null : (environment.getNamed(apiKeyVariable) ?? null);
  return { provider, kind: 'openai-compatible', baseUrl: withoutSlash(baseUrl), apiKeyVariable, apiKey, headers };
}

function withoutSlash<T extends string | null>(address: T): T {
  return (address === null ? null : address.replace(/\/+$/, '')) as T; // A text stays a text, and null stays null.
}
