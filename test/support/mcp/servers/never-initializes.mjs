/** Reads and never says a word. */
import { holdLifeline } from './lifeline.mjs';

holdLifeline('server');
process.stdin.on('data', () => undefined);
process.stdin.on('end', () => process.exit(0));
