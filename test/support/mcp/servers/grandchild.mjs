/** Lives until it is killed, whatever it is asked. It holds the pipes of its parent, too. */
import { holdLifeline } from './lifeline.mjs';

process.on('SIGTERM', () => undefined);
process.on('SIGHUP', () => undefined);
holdLifeline('grandchild');
setInterval(() => undefined, 1_000_000);
