import { existsSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { exitCodes } from '../config/exit-codes.ts';
import { CliFailure } from './failure.ts';

/**
 * Writes a file that only its owner may read, piece by piece. Nobody ever sees a part of it under its name: what fails
 * half-way leaves what was there. A file that exists is only replaced with `force`.
 *
 * @returns how many bytes were written
 */
export async function writeOutputFile(
  file: string,
  force: boolean,
  pieces: () => AsyncIterable<string>,
): Promise<number> {
  if (!force && existsSync(file)) throw isThere(file);
  const temporary = join(dirname(file), `.${basename(file)}.${crypto.randomUUID()}`);
  try {
    const bytes = await fill(temporary, pieces());
    await (force ? rename(temporary, file) : publishNew(temporary, file));
    return bytes;
  } catch (error) {
    throw codeOf(error) === undefined ? error : notWritten(file, error);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function fill(temporary: string, pieces: AsyncIterable<string>): Promise<number> {
  const handle = await open(temporary, 'wx', 0o600);
  try {
    let bytes = 0;
    for await (const piece of pieces) {
      const buffer = Buffer.from(piece);
      await handle.writeFile(buffer);
      bytes += buffer.length;
    }
    await handle.sync();
    return bytes;
  } finally {
    await handle.close();
  }
}

/** A link, unlike a rename, fails when somebody else was first. */
async function publishNew(temporary: string, file: string): Promise<void> {
  try {
    await link(temporary, file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw isThere(file);
    if (!filesystemsWithoutLinks.has(codeOf(error) ?? '')) throw error;
    if (existsSync(file)) throw isThere(file);
    await rename(temporary, file);
  }
}

const filesystemsWithoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function isThere(file: string): CliFailure {
  return new CliFailure(exitCodes.usage, 'file_exists', `${file} exists. Name another file, or say --force.`);
}

function notWritten(file: string, cause: unknown): CliFailure {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CliFailure(exitCodes.storage, 'not_written', `${file} cannot be written: ${why}`, { cause });
}
