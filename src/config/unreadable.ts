import { lstatSync, statSync } from 'node:fs';

/** Why a file of the home folder can't be read, for a sentence that begins with its name. */
export function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EISDIR') return 'is a folder and not a file';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this user';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text';
  return `can't be read (${error instanceof Error ? error.message : String(error)})`;
}

export const danglingLink = 'is a link to a file that is not there';

export function isDanglingLink(path: string): boolean {
  return (
    statSync(path, { throwIfNoEntry: false }) === undefined && lstatSync(path, { throwIfNoEntry: false }) !== undefined
  );
}
