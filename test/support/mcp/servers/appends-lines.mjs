/**
 * Writes lines to the file that JOURNAL names, so that a test can count how often a call was made. `append` answers at
 * once. `append_and_wait` writes and never answers; `wait` does not even write. `large` answers with so many bytes.
 */
import { appendFileSync } from 'node:fs';
import { serve, text } from './stdio-server.mjs';

const note = (line) => appendFileSync(process.env.JOURNAL, `${line}\n`);

serve({
  tools: {
    append: ({ line }) => {
      note(line);
      return text(`appended ${line}`);
    },
    append_and_wait: ({ line }) => {
      note(line);
      return new Promise(() => undefined);
    },
    large: ({ bytes }) => text('x'.repeat(bytes)),
    end_yourself: ({ line }) => {
      note(line);
      process.kill(process.pid, 'SIGKILL');
    },
  },
});
