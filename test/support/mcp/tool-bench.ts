import { MemoryQueries } from '../../../src/adapters/outbound/memory/memory-queries.ts';
import { MemoryStore } from '../../../src/adapters/outbound/memory/memory-store.ts';
import { join } from 'node:path';
import { RecordingLogger } from '../../../src/adapters/outbound/memory/recording-logger.ts';
import { SystemClock } from '../../../src/adapters/outbound/system/system-clock.ts';
import type { McpServerOptions, StdioServer } from '../../../src/adapters/outbound/tools/mcp-server-options.ts';
import { McpToolHost } from '../../../src/adapters/outbound/tools/mcp-tool-host.ts';
import type { Clock } from '../../../src/core/ports/clock.ts';
import type { ToolDescriptor, ToolHost, ToolOutcome } from '../../../src/core/ports/tool-host.ts';
import { Lifeline } from './lifeline.ts';

const serversFolder = join(import.meta.dirname, 'servers');

export const noSignal = new AbortController().signal;

/** Hosts and real servers for one test, and the proof that nothing of them is left when it ends. */
export class ToolBench {
  readonly logger = new RecordingLogger();
  readonly lifeline: Lifeline;
  readonly #hosts: ToolHost[] = [];

  static async open(): Promise<ToolBench> {
    return new ToolBench(await Lifeline.open());
  }

  private constructor(lifeline: Lifeline) {
    this.lifeline = lifeline;
  }

  /** One of the servers in `servers/`, run by this Node. */
  stdio(
    file: string,
    over: Partial<McpServerOptions> & { readonly transport?: never } = {},
    transport: Partial<StdioServer> = {},
  ): McpServerOptions {
    return aServer({
      name: file,
      ...over,
      transport: {
        kind: 'stdio',
        command: process.execPath,
        args: [join(serversFolder, `${file}.mjs`)],
        ...transport,
        env: { LIFELINE: this.lifeline.path, ...transport.env },
      },
    });
  }

  host(servers: readonly McpServerOptions[], clock: Clock = new SystemClock()): McpToolHost {
    const inheritedEnv = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
    const host = new McpToolHost({
      servers,
      inheritedEnv,
      clientVersion: '0.0.0',
      clock,
      queries: new MemoryQueries(new MemoryStore('store-1')),
      logger: this.logger,
    });
    this.#hosts.push(host);
    return host;
  }

  /** Everything that was logged, as one text. */
  get logged(): string {
    return JSON.stringify(this.logger.lines);
  }

  async closeHosts(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()));
  }

  /** Resolves when all processes are gone: a test that leaves one behind times out here. */
  async close(): Promise<void> {
    await this.closeHosts();
    await this.lifeline.allGone();
    await this.lifeline.close();
  }
}

export function aServer(over: Partial<McpServerOptions> = {}): McpServerOptions {
  return {
    name: 'server',
    transport: { kind: 'stdio', command: 'none', args: [], env: {} },
    timeoutMs: 20_000,
    maxOutputBytes: 8_388_608,
    startupTimeoutMs: 20_000,
    ...over,
  };
}

/** Calls the tool that `server.tool` names. */
export function call(
  host: ToolHost,
  entry: string,
  args: Readonly<Record<string, unknown>> = {},
  signal: AbortSignal = noSignal,
): Promise<ToolOutcome> {
  return host.call({ callId: 'c1', sessionId: 's1', tool: aTool(entry), arguments: args }, signal);
}

export function aTool(entry: string): ToolDescriptor {
  const dot = entry.indexOf('.');
  const [server, serverTool] = [entry.slice(0, dot), entry.slice(dot + 1)];
  return { name: 'any', description: '', parameters: { type: 'object' }, server, serverTool };
}
