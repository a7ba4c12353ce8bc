/** A file of the home folder can't be written, for a reason that the configuration can't put right. */
export class HomeFileError extends Error {
  override readonly name = 'HomeFileError';

  constructor(file: string, cause: unknown) {
    super(`${file} can't be written: ${reasonOf(cause)}`, { cause });
  }
}

/** Whether an error of the file system speaks of the disk, and not of the place or its rights. */
export function isDiskFault(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'].includes(codeOf(error));
}

function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `the disk is full. Make room and try again. (${reason})`;
    case 'EROFS':
      return `its file system is read-only. (${reason})`;
    case 'EISDIR':
      return 'a folder is in its place. Move it away and try again.';
    default:
      return reason;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
