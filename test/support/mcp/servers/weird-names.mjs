/** Names and schemas that a provider would turn down, and some tools that are none. */
import { holdLifeline } from './lifeline.mjs';
import { serve, text } from './stdio-server.mjs';

holdLifeline('server');
const names = [
  'plain',
  'with.dot',
  'with dot',
  'with/slash',
  'größe',
  '工具',
  'x'.repeat(100),
  `${'x'.repeat(99)}y`,
  'with__bars',
];
serve({
  tools: Object.fromEntries(names.map((name) => [name, () => text(`this is ${name}`)])),
  describe: (name) => (name === 'plain' ? { description: 42, inputSchema: 'none' } : {}),
});
