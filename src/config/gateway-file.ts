import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HomeFileError } from './home-file-error.ts';
import { homeFiles } from './home-files.ts';
import { writeFileAtomically } from './write-file-atomically.ts';

/** How clients on this machine find the gateway. Its name and keys are public. */
export interface GatewayFile {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly instance_id: string;
  readonly epoch: number;
  readonly state: GatewayFileState;
  readonly version: string;
  readonly protocol: string;
}

export type GatewayFileState = 'starting' | 'ready' | 'draining';

export type FoundGatewayFile =
  | { readonly kind: 'found'; readonly gateway: GatewayFile }
  /** No gateway has this home, or its last one stopped cleanly. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** Throws a `HomeFileError` when it can't be written. */
export function writeGatewayFile(home: string, gateway: GatewayFile): void {
  const file = fileIn(home);
  try {
    writeFileAtomically(file, `${JSON.stringify(gateway, null, 2)}\n`);
  } catch (error) {
    throw new HomeFileError(file, error);
  }
}

/**
 * Reads the file of any version of the gateway: keys that this one doesn't know don't matter, and only `url` and
 * `token` must be there. After a kill it is the file of a process that is gone.
 */
export function readGatewayFile(home: string): FoundGatewayFile {
  const file = fileIn(home);
  try {
    return parse(readFileSync(file, 'utf8'), file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'absent' };
    return { kind: 'unreadable', reason: `${file}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Removes the file only if this instance wrote it: another one may have taken the home over. True when it did. */
export function removeGatewayFile(home: string, instanceId: string): boolean {
  const found = readGatewayFile(home);
  if (found.kind !== 'found' || found.gateway.instance_id !== instanceId) return false;
  rmSync(fileIn(home), { force: true });
  return true;
}

function fileIn(home: string): string {
  return join(home, homeFiles.gateway);
}

/** By hand and not by a schema: this runs in every command, and loading a schema library takes longer than the rest. */
function parse(text: string, file: string): FoundGatewayFile {
  const unreadable = (reason: string): FoundGatewayFile => ({ kind: 'unreadable', reason: `${file}: ${reason}` });
  const content = parseJson(text);
  if (typeof content !== 'object' || content === null) return unreadable('is not a JSON object');
  const field = new Map<string, unknown>(Object.entries(content));
  const url = field.get('url');
  const token = field.get('token');
  if (typeof url !== 'string' || !isSocketUrl(url)) return unreadable('`url` is not a WebSocket address');
  if (typeof token !== 'string' || token === '') return unreadable('`token` is missing');
  const textOf = (name: string): string => {
    const value = field.get(name);
    return typeof value === 'string' ? value : '';
  };
  const numberOf = (name: string): number => {
    const value = field.get(name);
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0;
  };
  const state = field.get('state');
  return {
    kind: 'found',
    gateway: {
      url,
      token,
      pid: numberOf('pid'),
      instance_id: textOf('instance_id'),
      epoch: numberOf('epoch'),
      state: state === 'starting' || state === 'draining' ? state : 'ready',
      version: textOf('version'),
      protocol: textOf('protocol'),
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The engine's message would quote the file, and a token is in it.
  }
}

function isSocketUrl(text: string): boolean {
  return URL.canParse(text) && ['ws:', 'wss:'].includes(new URL(text).protocol);
}
