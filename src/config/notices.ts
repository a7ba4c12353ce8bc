import type { Environment } from './environment.ts';
import type { ModelEndpoint } from './model-endpoints.ts';
import type { Config } from './schema.ts';

/** Something that works and that an operator should know all the same. */
export interface ConfigNotice {
  readonly level: 'info' | 'warn';
  readonly message: string;
}

/** What `serve` logs at its start and `config check` prints: one whole sentence each, without any secret. */
export function configNotices(
  config: Config,
  endpoints: readonly ModelEndpoint[],
  environment: Environment,
): readonly ConfigNotice[] {
  const notices: ConfigNotice[] = [];
  const { gateway, storage, model } = config;
  if (model.provider === null) {
    notices.push(
      info('No model is configured, so the built-in demo model answers. `model` in config.yaml names a real one.'),
    );
  }
  for (const { provider, apiKeyVariable, apiKey } of endpoints) {
    // A server of one's own often needs no key; one that was named by hand is expected to be there.
    if (apiKey !== null || apiKeyVariable === null || provider === 'custom') continue;
    notices.push(
      warn(`The variable ${apiKeyVariable} is not set, so the provider \`${provider}\` is asked without a key.`),
    );
  }
  for (const { provider, kind, apiKeyVariable, apiKey } of endpoints) {
    if (apiKey !== null || apiKeyVariable !== null || !asksForKey.includes(kind)) continue;
    notices.push(
      warn(`The provider \`${provider}\` has neither api_key_env nor api_key_file: it is asked without a key.`),
    );
  }
  notices.push(...missingVariables(config, environment));
  if (!isLoopback(gateway.host)) {
    notices.push(
      warn(
        `The gateway listens at ${gateway.host}, which is open to the network. Its token crosses it unencrypted unless a proxy adds TLS.`,
      ),
    );
  }
  if (storage.synchronous === 'normal') {
    notices.push(
      warn('storage.synchronous is `normal`: accepted prompts survive a killed process, but not a power cut.'),
    );
  }
  if (storage.allow_unsafe_filesystem) {
    notices.push(warn('storage.allow_unsafe_filesystem is on: on a network file system accepted prompts may be lost.'));
  }
  return notices;
}

/** The vendors' own interfaces, which nobody may use without a key. */
const asksForKey: readonly ModelEndpoint['kind'][] = ['openai', 'anthropic', 'google'];

/** The variables that an MCP server is to get and that are not set. */
function missingVariables({ mcp_servers: servers }: Config, environment: Environment): readonly ConfigNotice[] {
  return Object.entries(servers).flatMap(([name, server]) => {
    const named = [
      ...Object.entries(server.headers_env).map(([header, variable]) => ({ variable, what: `the header ${header}` })),
      ...server.pass_env.map((variable) => ({ variable, what: 'it' })),
    ];
    return named
      .filter(({ variable }) => environment.getNamed(variable) === undefined)
      .map(({ variable, what }) =>
        warn(`The variable ${variable} is not set, so the MCP server \`${name}\` starts without ${what}.`),
      );
  });
}

/** Whether only this machine can reach the address. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function info(message: string): ConfigNotice {
  return { level: 'info', message };
}

function warn(message: string): ConfigNotice {
  return { level: 'warn', message };
}
