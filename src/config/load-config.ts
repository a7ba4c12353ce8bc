import { join } from 'node:path';
import { checkConfig } from './check-config.ts';
import { problemOf, type ConfigProblem } from './config-error.ts';
import { homeFiles } from './home-files.ts';
import { readText } from './read-text.ts';
import { configSchema, type Config } from './schema.ts';

export type LoadedConfig =
  | {
      readonly kind: 'valid';
      readonly config: Config;
      readonly file: string;
      /** False: there is no file, and everything has its default. */
      readonly found: boolean;
    }
  | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] };

/** Reads and judges the home folder's `config.yaml`. */
export function loadConfig(home: string): LoadedConfig {
  const file = join(home, homeFiles.config);
  const read = readText(file);
  if (read.kind === 'unreadable') return { kind: 'invalid', problems: [problemOf(file, read.reason)] };
  if (read.kind === 'absent') return { kind: 'valid', config: configSchema.parse({}), file, found: false };
  const checked = checkConfig(read.text, file);
  return checked.kind === 'invalid' ? checked : { ...checked, file, found: true };
}
