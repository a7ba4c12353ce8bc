import { nearestName } from '../words/nearest-name.ts';
import { ConfigError, problemOf, type ConfigProblem } from './config-error.ts';
import { loadHomeEnvironment, readEnvironment, type Environment } from './environment.ts';
import { parseFailpoints, type FailpointRule } from './failpoint-rules.ts';
import { readKeyFile } from './key-file.ts';
import { loadConfig } from './load-config.ts';
import { modelEndpoints, type ModelEndpoint } from './model-endpoints.ts';
import { configNotices, type ConfigNotice } from './notices.ts';
import type { Config } from './schema.ts';
import { logLevels, type LogLevel } from './sections/operation.ts';

/** Everything that a process is told from outside, judged as a whole. */
export interface Configuration {
  readonly home: string;
  readonly file: string;
  /** False: there is no `config.yaml`, and everything has its default. */
  readonly found: boolean;
  readonly config: Config;
  readonly environment: Environment;
  /** That of the configuration, unless HOLDFAST_LOG_LEVEL says otherwise. */
  readonly logLevel: LogLevel;
  /** From HOLDFAST_FAILPOINTS; none in production. */
  readonly failpoints: readonly FailpointRule[];
  readonly endpoints: readonly ModelEndpoint[];
  readonly notices: readonly ConfigNotice[];
}

/**
 * Reads the home folder's `.env` and `config.yaml` and the environment. It creates nothing, so that `config check` can
 * use it. Throws a `ConfigError` that lists every problem.
 */
export function readConfiguration(home: string): Configuration {
  loadHomeEnvironment(home);
  const environment = readEnvironment();
  const level = environment.get('HOLDFAST_LOG_LEVEL');
  const failpoints = parseFailpoints(environment.get('HOLDFAST_FAILPOINTS') ?? '');
  const loaded = loadConfig(home);
  const problems = [
    ...(loaded.kind === 'invalid' ? loaded.problems : []),
    ...(level === undefined || isLogLevel(level) ? [] : [levelProblem(level)]),
    ...(failpoints.kind === 'invalid' ? [problemOf('environment', failpoints.problem, 'HOLDFAST_FAILPOINTS')] : []),
  ];
  if (loaded.kind === 'invalid' || failpoints.kind === 'invalid' || problems.length > 0)
    throw new ConfigError(problems);
  const { config, file, found } = loaded;
  const endpoints = modelEndpoints(config, environment, (path, key) => readKeyFile(home, file, path, key));
  return {
    home,
    file,
    found,
    config,
    environment,
    logLevel: level !== undefined && isLogLevel(level) ? level : config.logging.level,
    failpoints: failpoints.rules,
    endpoints,
    notices: configNotices(config, endpoints, environment),
  };
}

function isLogLevel(text: string): text is LogLevel {
  return logLevels.some((level) => level === text);
}

function levelProblem(level: string): ConfigProblem {
  const near = nearestName(level, logLevels);
  const hint = near === null ? '' : `; did you mean \`${near}\`?`;
  return problemOf('environment', `must be one of ${logLevels.join(', ')}${hint}`, 'HOLDFAST_LOG_LEVEL');
}
