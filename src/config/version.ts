import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of this program, as its package says. */
export function readVersion(): string {
  // Two folders up from here, whether this is src/ or dist/.
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version; // npm itself demands it.
}
