import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';

/**
 * Why no backup may be written to a path, or null when one may. The home folder itself is the gateway's: a file there
 * could get the name of one that it will make.
 */
export function backupPathProblem(home: string, path: string): string | null {
  if (!isAbsolute(path)) return 'must be an absolute path';
  const folder = dirname(path);
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return 'exists already';
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      return `must be in a folder that exists: ${folder} doesn't`;
    if (realpathSync(folder) === realpathSync(home))
      return "must not be in the home folder itself, which is the gateway's";
  } catch (error) {
    return `must be in a folder that can be used (${error instanceof Error ? error.message : String(error)})`;
  }
  return null;
}
