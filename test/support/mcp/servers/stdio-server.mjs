/** The least that is an MCP server on stdio. It does nothing for a cancelled call unless `onCancelled` does. */
import { createInterface } from 'node:readline';

export const protocolVersion = '2025-06-18';

export function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

export function text(value, more = {}) {
  return { content: [{ type: 'text', text: value }], ...more };
}

/** `tools` maps a name to `(args, request id) => result`, or to a promise of one; `undefined` is no answer at all. */
export function serve({
  tools,
  describe = () => ({}),
  onCancelled = () => undefined,
  onInputEnd = () => process.exit(0),
}) {
  const listed = () =>
    Object.keys(tools).map((name) => ({ name, description: '', inputSchema: { type: 'object' }, ...describe(name) }));
  const answer = async ({ id, method, params }) => {
    if (method === 'initialize') {
      const capabilities = { tools: { listChanged: true } };
      return { protocolVersion, capabilities, serverInfo: { name: 'tiny', version: '1' } };
    }
    if (method === 'tools/list') return { tools: listed() };
    if (method === 'tools/call') return tools[params.name](params.arguments, id);
    return {};
  };
  const lines = createInterface({ input: process.stdin });
  lines.on('line', async (line) => {
    const message = JSON.parse(line);
    if (message.method === 'notifications/cancelled') onCancelled(message.params.requestId);
    if (message.method === undefined || message.id === undefined) return;
    const result = await answer(message);
    if (result !== undefined) send({ id: message.id, result });
  });
  lines.on('close', onInputEnd);
}
