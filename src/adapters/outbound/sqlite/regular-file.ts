import { lstatSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { StoreOpenError } from './store-open-error.ts';

/** The file at a path, or null when there is none. A link to nothing doesn't stand for a file that is still to be made. */
export function regularFileAt(path: string): Stats | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined && lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  if (stats?.isFile() === true) return stats;
  throw new StoreOpenError(
    'not_a_file',
    stats === undefined
      ? `${path} is a link to a file that isn't there. Put that file back, or take the link away.`
      : `${path} is not a file. Move it away, or choose another folder with --home.`,
  );
}
