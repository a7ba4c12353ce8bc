import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError, problemOf } from './config-error.ts';
import { homeFiles } from './home-files.ts';
import { readText } from './read-text.ts';

export interface EnvironmentVariable {
  readonly name: string;
  readonly description: string;
}

/**
 * Every variable that the program reads by a fixed name, and the only list of them: `.env.example` and the reference
 * page follow it. `api_key_env` of a provider names further ones.
 */
export const environmentVariables = [
  {
    name: 'HOLDFAST_HOME',
    description: 'The home folder: configuration, token and database. Default: the data folder of the platform.',
  },
  {
    name: 'HOLDFAST_URL',
    description: "The address of a gateway, for the commands that talk to one. Default: the home folder's own gateway.",
  },
  { name: 'HOLDFAST_TOKEN', description: 'The token for HOLDFAST_URL.' },
  { name: 'HOLDFAST_LOG_LEVEL', description: 'debug, info, warn or error. It overrides `logging.level`.' },
  {
    name: 'HOLDFAST_FAILPOINTS',
    description: 'For tests only: where the gateway kills itself, fails or waits, as `name:action[@n],…`.',
  },
  {
    name: 'OPENAI_API_KEY',
    description: 'The key for `provider: custom`, an OpenAI-compatible server at `model.base_url`.',
  },
  { name: 'NO_COLOR', description: 'Any value turns colours off.' },
] as const satisfies readonly EnvironmentVariable[];

type VariableName = (typeof environmentVariables)[number]['name'];

/** The environment at one moment. An empty variable counts as one that is not set. */
export interface Environment {
  get(name: VariableName): string | undefined;
  /** A variable whose name the configuration gave, such as a provider's `api_key_env`. */
  getNamed(name: string): string | undefined;
}

/** The environment of this process. Nothing else in the program reads it. */
export function readEnvironment(): Environment {
  return environmentOf(process.env);
}

export function environmentOf(variables: Readonly<Record<string, string | undefined>>): Environment {
  const values = new Map(Object.entries(variables));
  const getNamed = (name: string): string | undefined => {
    const value = values.get(name);
    return value === '' ? undefined : value;
  };
  return { get: getNamed, getNamed };
}

/**
 * Adds the home folder's `.env` to the environment of this process, if it is there. A variable that is set already
 * keeps its value; an empty one counts as one that is not set. True when there was a file.
 */
export function loadHomeEnvironment(home: string): boolean {
  const file = join(home, homeFiles.environment);
  const read = readText(file);
  if (read.kind === 'unreadable') throw new ConfigError([problemOf(file, read.reason)]);
  if (read.kind === 'absent') return false;
  for (const [name, value] of Object.entries(parseEnv(read.text))) {
    if ((process.env[name] ?? '') === '') process.env[name] = value;
  }
  return true;
}
