import { readConfiguration } from './config/configuration.ts';
import type { Configuration } from './config/configuration.ts';
import { ConfigError } from './config/config-error.ts';
import { readEnvironment } from './config/environment.ts';
import { exitCodes } from './config/exit-codes.ts';
import type { ExitCode } from './config/exit-codes.ts';
import { openHome, resolveHome } from './config/home.ts';
import { serveUntilStopped } from './composition/serve.ts';

export interface ServeOptions {
  readonly home?: string | undefined;
  /** Log in JSON whatever the configuration says. */
  readonly json?: boolean | undefined;
}

/** Runs the gateway until it is told to stop, and answers the exit code. */
export async function serve(options: ServeOptions): Promise<ExitCode> {
  process.umask(0o077);
  const configuration = configured(options);
  return configuration === null ? exitCodes.configuration : serveUntilStopped(configuration, options.json === true);
}

/** Null: the configuration is wrong, and stderr says how. */
function configured(options: ServeOptions): Configuration | null {
  try {
    const home = resolveHome(options.home, readEnvironment());
    openHome(home);
    return readConfiguration(home);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return null;
  }
}
