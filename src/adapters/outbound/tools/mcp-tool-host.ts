import type { Clock } from '../../../core/ports/clock.ts';
import type { Logger } from '../../../core/ports/logger.ts';
import type {
  ToolCallRequest,
  ToolDescriptor,
  ToolHost,
  ToolOutcome,
  ToolServerHealth,
} from '../../../core/ports/tool-host.ts';
import { builtinServer, type BuiltinTool } from './builtin-tool.ts';
import { makeBuiltinTools } from './builtin-tools.ts';
import { ConnectionError, type OpenConnection } from './connection.ts';
import type { ListedTool } from './listed-tools.ts';
import { secretsOf, type McpServerOptions } from './mcp-server-options.ts';
import { McpServer } from './mcp-server.ts';
import { makeSecretMask } from './secret-mask.ts';
import { readSelection } from './selection.ts';
import { ServerLog } from './server-log.ts';
import type { SearchedQueries } from './search-history-tool.ts';
import { exposedName } from './tool-names.ts';
import { untilAborted } from './until-aborted.ts';

export interface McpToolHostOptions {
  readonly servers: readonly McpServerOptions[];
  /** What each stdio server gets of our environment beside its own `env`: `PATH` and `HOME`, and nothing that is secret. */
  readonly inheritedEnv: Readonly<Record<string, string>>;
  /** Our version, which servers are told. */
  readonly clientVersion: string;
  readonly clock: Clock;
  /** What the built-in search reads. */
  readonly queries: SearchedQueries;
  readonly logger: Logger;
}

/** The built-in tools and those of the configured MCP servers. */
export class McpToolHost implements ToolHost {
  readonly #builtin: readonly BuiltinTool[];
  readonly #servers: ReadonlyMap<string, McpServer>;
  readonly #logger: Logger;
  /** Each is reported once. */
  readonly #reported = new Set<string>();

  constructor(options: McpToolHostOptions) {
    const names = [builtinServer, ...options.servers.map(({ name }) => name)];
    if (new Set(names).size < names.length) throw new Error(`Two tool servers have one name: ${names.join(', ')}`);
    this.#builtin = makeBuiltinTools(options);
    this.#logger = options.logger;
    this.#servers = new Map(options.servers.map((server) => [server.name, makeServer(server, options)]));
  }

  /** In the order of their names, whatever the order of the selection and of the servers. */
  async list(selection: readonly string[], signal: AbortSignal): Promise<readonly ToolDescriptor[]> {
    const { wanted, unknown } = readSelection(selection, [builtinServer, ...this.#servers.keys()]);
    for (const entry of unknown) this.#report(entry, 'a toolset names a server that is not configured');
    const found = await Promise.all([...wanted].map(([server, tools]) => this.#select(server, tools, signal)));
    return found.flat().sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async call(request: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome> {
    const { tool, arguments: args } = request;
    if (tool.server === builtinServer) return this.#runBuiltin(request, signal);
    const server = this.#servers.get(tool.server);
    return server === undefined ? unknownTool(tool) : server.call(tool.serverTool, args, signal);
  }

  async #runBuiltin(request: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome> {
    const { tool, arguments: args, sessionId } = request;
    const builtin = this.#builtin.find(({ descriptor }) => descriptor.serverTool === tool.serverTool);
    if (builtin === undefined) return unknownTool(tool);
    try {
      const outcome = await untilAborted(Promise.resolve(builtin.run(args, { sessionId })), signal);
      return outcome === 'aborted' ? builtinBroken('aborted', 'The call was stopped.') : outcome;
    } catch (error) {
      this.#logger.error('a built-in tool failed', { tool: tool.name, sessionId, error });
      return builtinBroken('unavailable', 'The tool does not work at the moment.');
    }
  }

  health(): readonly ToolServerHealth[] {
    return [...this.#servers.values()].map((server) => server.health());
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
  }

  async #select(
    server: string,
    wanted: ReadonlySet<string> | 'all',
    signal: AbortSignal,
  ): Promise<readonly ToolDescriptor[]> {
    const tools = await this.#toolsOf(server, signal);
    if (wanted === 'all') return tools;
    const missing = [...wanted].filter((name) => !tools.some(({ serverTool }) => serverTool === name));
    // Of a server that can't be reached nothing is known.
    if (tools.length > 0)
      for (const name of missing)
        this.#report(`${server}.${name}`, 'a toolset names a tool that its server does not have');
    return tools.filter(({ serverTool }) => wanted.has(serverTool));
  }

  async #toolsOf(server: string, signal: AbortSignal): Promise<readonly ToolDescriptor[]> {
    if (server === builtinServer) return this.#builtin.map(({ descriptor }) => descriptor);
    const tools = (await this.#servers.get(server)?.tools(signal)) ?? [];
    return tools.map((tool) => describe(server, tool));
  }

  #report(entry: string, message: string): void {
    if (this.#reported.has(entry)) return;
    this.#reported.add(entry);
    this.#logger.warn(message, { entry });
  }
}

function makeServer(server: McpServerOptions, options: McpToolHostOptions): McpServer {
  const { inheritedEnv, clientVersion, clock, logger } = options;
  const mask = makeSecretMask(secretsOf(server));
  const log = new ServerLog(server.name, logger, clock, mask);
  const open: OpenConnection = async (signal) => {
    // Loaded at the first need. A file that has gone since the start is this server's failure, and not the gateway's end.
    const { openConnection } = await import('./mcp-connection.ts').catch((error: unknown) => {
      throw new ConnectionError(
        `its client can't be loaded: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
    return openConnection(server, { clock, log, mask, inheritedEnv, clientVersion }, signal);
  };
  return new McpServer(server, { open, clock, logger });
}

function describe(server: string, { name, description, parameters }: ListedTool): ToolDescriptor {
  return { name: exposedName(server, name), description, parameters, server, serverTool: name };
}

/** A built-in tool only looks, so a call of it that broke has done nothing. */
function builtinBroken(reason: 'aborted' | 'unavailable', message: string): ToolOutcome {
  return { kind: 'broken', reason, message, notStarted: true };
}

function unknownTool({ server, serverTool }: ToolDescriptor): ToolOutcome {
  const message = `There is no tool "${serverTool}" on a server "${server}" any more.`;
  return { kind: 'broken', reason: 'unknown_tool', message, notStarted: true };
}
