import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError, problemOf } from './config-error.ts';

/** The key that a file holds, without blanks around it. `key` is where the configuration names the file. */
export function readKeyFile(home: string, configFile: string, path: string, key: string): string {
  const file = resolve(home, path);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new ConfigError([problemOf(configFile, `names ${file}, which can't be read (${code})`, key)], {
      cause: error,
    });
  }
  if (text === '') throw new ConfigError([problemOf(configFile, `names ${file}, which is empty`, key)]);
  if (/\s/.test(text)) {
    throw new ConfigError([problemOf(configFile, `names ${file}, which holds more than a key`, key)]);
  }
  return text;
}
