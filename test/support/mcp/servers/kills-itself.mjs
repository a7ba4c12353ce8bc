/** `boom` kills the server in the middle of the call. */
import { holdLifeline } from './lifeline.mjs';
import { serve, text } from './stdio-server.mjs';

holdLifeline('server');
serve({ tools: { hello: () => text('hello'), boom: () => void process.kill(process.pid, 'SIGKILL') } });
