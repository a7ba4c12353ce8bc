import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeFiles } from './home-files.ts';
import { writeFileAtomically } from './write-file-atomically.ts';

/** The port that this home's gateway listened at last, so that `port: 0` finds it again and clients can reconnect. */
export function readLastPort(home: string): number | null {
  try {
    const port = Number(readFileSync(join(home, homeFiles.lastPort), 'utf8').trim());
    return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : null;
  } catch {
    return null; // It is a convenience: any port serves as well.
  }
}

export function rememberPort(home: string, port: number): void {
  if (readLastPort(home) !== port) writeFileAtomically(join(home, homeFiles.lastPort), `${port}\n`);
}
