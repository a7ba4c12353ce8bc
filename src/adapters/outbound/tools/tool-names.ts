import { createHash } from 'node:crypto';

/** What every provider takes: https://platform.openai.com/docs/api-reference/chat (function names) is the narrowest. */
const longestName = 64;
const hashLength = 8;

/**
 * The name under which a model sees a server's tool: `server__tool`, made legal. It depends on the two names and on
 * nothing else, so that it stays the same while other tools come and go.
 *
 * A name that had to be changed, or that another pair could have as well, ends in a hash of the pair. A plain name is
 * unique because its first `__` is always the one that was put there.
 */
export function exposedName(server: string, tool: string): string {
  const wanted = `${server}__${tool}`;
  const legal = wanted.replace(/[^A-Za-z0-9_-]/g, '_');
  const ambiguous = server.includes('__') || server.endsWith('_');
  if (legal === wanted && legal.length <= longestName && !ambiguous) return wanted;
  return `${legal.slice(0, longestName - hashLength - 1)}_${shortHash(server, tool)}`;
}

function shortHash(server: string, tool: string): string {
  return createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, hashLength);
}
