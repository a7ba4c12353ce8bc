/** `large` answers with as much as it is asked for. */
import { holdLifeline } from './lifeline.mjs';
import { serve, text } from './stdio-server.mjs';

holdLifeline('server');
serve({ tools: { large: ({ bytes }) => text('x'.repeat(bytes)), hello: () => text('hello') } });
