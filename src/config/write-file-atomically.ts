import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Writes a file so that every reader sees the old content or the new one, after a power cut too. Only its owner may
 * read it. It replaces whatever was there.
 */
export function writeFileAtomically(file: string, content: string): void {
  withTemporary(file, content, (temporary) => renameSync(temporary, file));
}

/** The same, but an existing file stays as it is. False when there was one. */
export function createFileAtomically(file: string, content: string): boolean {
  if (existsSync(file)) return false;
  try {
    withTemporary(file, content, (temporary) => {
      linkSync(temporary, file); // A link, unlike a rename, fails when somebody else was first.
      rmSync(temporary);
    });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (!filesystemsWithoutLinks.has(codeOf(error))) throw error;
    if (existsSync(file)) return false;
    writeFileAtomically(file, content);
    return true;
  }
}

const filesystemsWithoutLinks: ReadonlySet<unknown> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function withTemporary(file: string, content: string, publish: (temporary: string) => void): void {
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.${crypto.randomUUID()}`);
  try {
    const descriptor = openSync(temporary, 'wx', 0o600);
    try {
      writeSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    publish(temporary);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
