import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, problemOf } from './config-error.ts';
import { HomeFileError, isDiskFault } from './home-file-error.ts';
import { homeFiles } from './home-files.ts';
import { danglingLink, isDanglingLink, unreadable } from './unreadable.ts';
import { createFileAtomically } from './write-file-atomically.ts';

const tokenPattern = /^[A-Za-z0-9_-]{32,256}$/;

/**
 * The token that lets a client in as `local`. It is made at the first start, survives restarts, and is the same for
 * two processes that start at once. Whoever wants another one deletes the file.
 */
export function readOrCreateToken(home: string): string {
  const file = join(home, homeFiles.token);
  try {
    createFileAtomically(file, `${newToken()}\n`);
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    const token = readFileSync(file, 'utf8').trim();
    if (tokenPattern.test(token)) return token;
  } catch (error) {
    if (isDiskFault(error)) throw new HomeFileError(file, error);
    throw new ConfigError([problemOf(file, isDanglingLink(file) ? danglingLink : unreadable(error))], { cause: error });
  }
  const message =
    'is no token (32 to 256 characters of A-Z, a-z, 0-9, `-`, `_`); delete the file, and the next start makes one';
  throw new ConfigError([problemOf(file, message)]);
}

/** 32 random bytes. */
function newToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
}
