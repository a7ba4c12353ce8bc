/** Says its secret wherever it can: on stderr, on stdout, in an error. */
import { holdLifeline } from './lifeline.mjs';
import { serve, text } from './stdio-server.mjs';

holdLifeline('server');
const secret = process.env.SECRET;
process.stderr.write(`my secret is ${secret}\n${'long '.repeat(1_000)}\n`);
process.stdout.write(`${secret}\n`);
serve({
  tools: {
    environment: () => text(Object.keys(process.env).sort().join(' ')),
    chatter: () => {
      for (let line = 0; line < 1_000; line += 1) process.stderr.write(`line ${line}\n`);
      return text('done');
    },
    leak: () => {
      process.stderr.write(`${secret}\n`, () => process.exit(3));
    },
  },
});
