import { backUpHome, restoreHome } from './composition/offline.ts';
import { serveUntilStopped } from './composition/serve.ts';
import { readConfiguration } from './config/configuration.ts';
import { readEnvironment } from './config/environment.ts';
import type { ExitCode } from './config/exit-codes.ts';
import { openExistingHome, openHome, resolveHome } from './config/home.ts';

export interface ServeOptions {
  readonly home?: string | undefined;
  /** Log in JSON whatever the configuration says. */
  readonly json?: boolean | undefined;
}

/** Runs the gateway until it is told to stop, and answers the exit code. Throws a `ConfigError` before it starts. */
export async function serve(options: ServeOptions): Promise<ExitCode> {
  process.umask(0o077);
  const home = resolveHome(options.home, readEnvironment());
  openHome(home);
  return serveUntilStopped(readConfiguration(home), options.json === true);
}

/** Copies the store of a home folder that no gateway uses. */
export function backup(options: {
  readonly home?: string | undefined;
  readonly file: string;
}): ReturnType<typeof backUpHome> {
  process.umask(0o077);
  return backUpHome(resolveHome(options.home, readEnvironment()), options.file);
}

/** Puts a backup in the place of a home folder's store; without a file it accepts the store as it is. */
export async function restore(options: {
  readonly home?: string | undefined;
  readonly file: string | null;
}): ReturnType<typeof restoreHome> {
  const home = resolveHome(options.home, readEnvironment());
  openExistingHome(home);
  return restoreHome(home, options.file);
}
