/** `learn` adds a tool, with a notification. How often the list was asked for is told on the lifeline. */
import { holdLifeline } from './lifeline.mjs';
import { send, serve, text } from './stdio-server.mjs';

const lifeline = holdLifeline('server');
let lists = 0;
const tools = {
  learn: ({ name }) => {
    tools[name] = () => text(`this is ${name}`);
    send({ method: 'notifications/tools/list_changed' });
    return text('learnt');
  },
};
serve({
  tools,
  describe: (name) => {
    if (name === 'learn') lifeline.tell(`list ${(lists += 1)}`);
    return {};
  },
});
