import type { RpcDependencies } from '../adapters/inbound/rpc/dependencies.ts';
import type { Config } from '../config/schema.ts';
import type { ToolHost } from '../core/ports/tool-host.ts';

/** What the toolsets of the configuration stand for at this moment, or what those of a session stood for when it was made. */
export function makeListTools({ toolsets }: Pick<Config, 'toolsets'>, host: ToolHost): RpcDependencies['listTools'] {
  return async (of, signal) => {
    const asked = [...new Set(of.toolsets ?? Object.keys(toolsets))];
    const known = asked.filter((name) => Object.hasOwn(toolsets, name));
    const selection = of.tools ?? known.flatMap((name) => toolsets[name] ?? []);
    const tools = await host.list(selection, signal);
    const lists = await Promise.all(
      known.map(async (name) => ({ name, tools: await host.list(toolsets[name] ?? [], signal) })),
    );
    return {
      unknown: asked.filter((name) => !known.includes(name)),
      tools: tools.map((tool) => ({
        tool,
        toolsets: lists.filter((list) => list.tools.some(({ name }) => name === tool.name)).map(({ name }) => name),
      })),
      servers: host.health(),
    };
  };
}
