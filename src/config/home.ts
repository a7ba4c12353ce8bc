import { chmodSync, mkdirSync, readdirSync, statSync, type Stats } from 'node:fs';
import { resolve } from 'node:path';
import envPaths from 'env-paths';
import { ConfigError, problemOf } from './config-error.ts';
import type { Environment } from './environment.ts';
import { HomeFileError, isDiskFault } from './home-file-error.ts';
import { homeFiles } from './home-files.ts';
import { isDanglingLink, unreadable } from './unreadable.ts';

/** Where the home folder is: `--home`, else HOLDFAST_HOME, else the platform's data folder. It need not exist. */
export function resolveHome(flag: string | undefined, environment: Environment): string {
  return resolve(flag ?? environment.get('HOLDFAST_HOME') ?? envPaths('holdfast', { suffix: '' }).data);
}

/**
 * Makes sure that the home folder is there and is nobody else's, and that everything that this process creates from
 * now on is readable by its owner only. Throws a `ConfigError` where the folder can't be one.
 */
export function openHome(home: string): void {
  process.umask(0o077);
  requireOwn(home, folderAt(home) ?? createFolder(home));
}

/** The same for a home folder that must be there already: a name that was mistyped makes no second one. */
export function openExistingHome(home: string): void {
  process.umask(0o077);
  const stats = folderAt(home);
  if (stats === null)
    throw refusal(home, `isn't there; if it is the one that is meant, make it first: mkdir -p -m 700 '${home}'`);
  requireOwn(home, stats);
}

function requireOwn(home: string, stats: Stats): void {
  if (!stats.isDirectory()) throw refusal(home, 'is a file and not a folder');
  const user = process.getuid?.();
  if (user === undefined) return; // Windows: its folders in a user's profile are private by themselves.
  if (stats.uid !== user)
    throw refusal(home, `belongs to another user (id ${stats.uid}, and this process has id ${user})`);
  if ((stats.mode & 0o077) === 0) return;
  if (!isOurs(home)) {
    const mode = (stats.mode & 0o777).toString(8);
    throw refusal(
      home,
      `holds other things and is open to other users (mode ${mode}); name a folder of its own, or run: chmod 700 '${home}'`,
    );
  }
  chmodSync(home, 0o700);
}

/** Null when nothing is there. */
function folderAt(home: string): Stats | null {
  try {
    const stats = statSync(home, { throwIfNoEntry: false });
    if (stats === undefined && isDanglingLink(home)) throw refusal(home, 'is a link to a folder that is not there');
    return stats ?? null;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return null; // creating it says more
    throw refusal(home, unreadable(error), error);
  }
}

function createFolder(home: string): Stats {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    return statSync(home);
  } catch (error) {
    if (isDiskFault(error)) throw new HomeFileError(home, error);
    throw refusal(home, `can't be created (${error instanceof Error ? error.message : String(error)})`, error);
  }
}

/** Closing a folder to others is right for a home, and would be wrong for `/` or a project that was named by mistake. */
function isOurs(home: string): boolean {
  const known: readonly string[] = Object.values(homeFiles);
  const names = readdirSync(home);
  const isOwn = (name: string): boolean => known.includes(name);
  // Many a project has an `.env`: among other things it proves nothing.
  return names.every(isOwn) || names.some((name) => name !== homeFiles.environment && isOwn(name));
}

function refusal(home: string, reason: string, cause?: unknown): ConfigError {
  return new ConfigError([problemOf(home, `the home folder ${reason}`)], { cause });
}
