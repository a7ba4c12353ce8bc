import { chmodSync, mkdirSync, readdirSync, statSync, type Stats } from 'node:fs';
import { resolve } from 'node:path';
import envPaths from 'env-paths';
import { ConfigError, problemOf } from './config-error.ts';
import type { Environment } from './environment.ts';
import { homeFiles } from './home-files.ts';

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
  const stats = createFolder(home);
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

function createFolder(home: string): Stats {
  try {
    const existing = statSync(home, { throwIfNoEntry: false });
    if (existing !== undefined) return existing;
    mkdirSync(home, { recursive: true, mode: 0o700 });
    return statSync(home);
  } catch (error) {
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
