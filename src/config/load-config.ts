import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkConfig } from './check-config.ts';
import { problemOf, type ConfigProblem } from './config-error.ts';
import { homeFiles } from './home-files.ts';
import { configSchema, type Config } from './schema.ts';
import { unreadable } from './unreadable.ts';

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

type ReadText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly reason: string };

function readText(file: string): ReadText {
  try {
    // Bytes that are no UTF-8 must not become something else in silence.
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      const isLink = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
      return isLink ? { kind: 'unreadable', reason: 'is a link to a file that is not there' } : { kind: 'absent' };
    }
    return { kind: 'unreadable', reason: unreadable(error) };
  }
}
