import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { homeFiles } from './home-files.ts';
import { writeFileAtomically } from './write-file-atomically.ts';

/**
 * The port that this home's gateway listened at last, so that `port: 0` finds it again and clients can reconnect. A file
 * that others may read or write is closed to them.
 */
export function readLastPort(home: string): number | null {
  const file = join(home, homeFiles.lastPort);
  try {
    const port = Number(readFileSync(file, 'utf8').trim());
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : null;
  } catch {
    return null; // It is a convenience: any port serves as well.
  }
}

export function rememberPort(home: string, port: number): void {
  if (readLastPort(home) !== port) writeFileAtomically(join(home, homeFiles.lastPort), `${port}\n`);
}
