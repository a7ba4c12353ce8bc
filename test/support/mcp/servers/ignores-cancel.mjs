/**
 * `stubborn` starts a grandchild and never ends; neither of the two heeds a cancellation, the end of its input or
 * SIGTERM. `obedient` ends when it is cancelled, and says so. `wait` ends when `release` is called.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { holdLifeline } from './lifeline.mjs';
import { send, serve, text } from './stdio-server.mjs';

const lifeline = holdLifeline('server');
process.on('SIGTERM', () => lifeline.tell('ignores SIGTERM'));
setInterval(() => undefined, 1_000_000);
const obedient = new Set();
const waiting = [];

serve({
  tools: {
    stubborn: () => {
      const grandchild = fileURLToPath(new URL('grandchild.mjs', import.meta.url));
      spawn(process.execPath, [grandchild], { stdio: 'inherit' });
    },
    obedient: (_args, id) => {
      obedient.add(id);
      lifeline.tell('obedient began');
    },
    wait: () => {
      lifeline.tell('wait began');
      return new Promise((resolve) => waiting.push(() => resolve(text('waited'))));
    },
    release: () => {
      for (const end of waiting.splice(0)) end();
      return text('released');
    },
    hello: () => text(`hello from ${process.pid}`),
  },
  onInputEnd: () => undefined,
  onCancelled: (id) => {
    lifeline.tell('cancelled');
    if (obedient.delete(id)) send({ id, result: text('late') });
  },
});
