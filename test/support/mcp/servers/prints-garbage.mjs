/** Uses stdout for more than messages, as many servers do by mistake. */
import { holdLifeline } from './lifeline.mjs';
import { send, serve, text } from './stdio-server.mjs';

holdLifeline('server');
const garbage = () =>
  process.stdout.write(`Listening…\n\n{"half": \n42\n"text"\n{"no":"message"}\n[]\n${'\0'.repeat(10)}\n`);

garbage();
serve({
  tools: {
    hello: () => {
      garbage();
      send({ id: 999_999, result: text('an answer that nobody asked for') });
      return text('hello');
    },
  },
});
