import type { McpServerOptions } from '../adapters/outbound/tools/mcp-server-options.ts';
import type { Environment } from '../config/environment.ts';
import type { Config } from '../config/schema.ts';

/** The configured MCP servers, with the variables that they may have from this environment. */
export function mcpServers(config: Config, environment: Environment): readonly McpServerOptions[] {
  return Object.entries(config.mcp_servers).map(([name, server]) => ({
    name,
    transport: transportOf(server, environment),
    timeoutMs: server.timeout_seconds * 1000,
    startupTimeoutMs: server.startup_timeout_seconds * 1000,
    maxOutputBytes: server.max_output_bytes,
  }));
}

/** Every value that a server is given in confidence, for the log's redaction. */
export function mcpSecrets(config: Config, environment: Environment): readonly string[] {
  return mcpServers(config, environment).flatMap(({ transport }) =>
    transport.kind === 'http' ? Object.values(transport.headers) : Object.values(transport.env),
  );
}

function transportOf(server: Config['mcp_servers'][string], environment: Environment): McpServerOptions['transport'] {
  if (server.url !== null) {
    const headers = fromEnvironment(Object.entries(server.headers_env), environment);
    return { kind: 'http', url: server.url, headers: { ...server.headers, ...headers } };
  }
  const passed = fromEnvironment(
    server.pass_env.map((name) => [name, name]),
    environment,
  );
  const { command, args, cwd } = server;
  return {
    kind: 'stdio',
    command: command ?? '',
    args,
    env: { ...passed, ...server.env },
    ...(cwd === null ? {} : { cwd }),
  };
}

function fromEnvironment(
  names: readonly (readonly [key: string, variable: string])[],
  environment: Environment,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap(([key, variable]) => {
      const value = environment.getNamed(variable);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}
