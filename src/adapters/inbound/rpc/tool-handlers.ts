import { failed, result } from './answer.ts';
import type { RpcDependencies } from './dependencies.ts';
import type { HandlersOf } from './handler.ts';
import { TextBudget } from './shown-text.ts';
import { toolServerToWire } from './status-to-wire.ts';

const maxDescriptionBytes = 16 * 1024;
/* A page is one frame. */
const maxPageTextBytes = 1024 * 1024;

/** The tools that sessions may use. */
export function makeToolHandlers(deps: RpcDependencies): HandlersOf<'tool'> {
  return {
    'tool.list': async ({ session_id, toolsets = null, limit }, { gone }) => {
      const session = session_id === undefined ? null : await deps.queries.findSession(session_id);
      if (session_id !== undefined && session === null) return failed('not_found', { what: 'session' });
      const { tools, servers, unknown } = await deps.listTools(session?.profile ?? { toolsets, tools: null }, gone);
      if (toolsets !== null && unknown.length > 0) {
        const message = `has no configured toolset ${unknown.join(', ')}`;
        return failed('invalid_params', { fields: [{ path: 'toolsets', message }] });
      }
      const budget = new TextBudget(maxDescriptionBytes, maxPageTextBytes);
      return result({
        tools: tools.slice(0, limit).map(({ tool, toolsets: names }) => {
          const { text: description, ...cut } = budget.take(tool.description);
          const { name, server, serverTool } = tool;
          return { name, server, server_tool: serverTool, description, ...cut, toolsets: [...names] };
        }),
        more: tools.length > limit,
        servers: servers.map(toolServerToWire),
      });
    },
  };
}
