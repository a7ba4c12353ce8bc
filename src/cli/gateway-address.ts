import { exitCodes } from '../config/exit-codes.ts';
import type { Environment } from '../config/environment.ts';
import { readGatewayFile, type GatewayFile } from '../config/gateway-file.ts';
import { resolveHome } from '../config/home.ts';
import { CliFailure } from './failure.ts';

/** The options that say which gateway is meant. */
export interface AddressOptions {
  readonly home?: string;
  readonly url?: string;
  readonly token?: string;
}

export interface GatewayAddress {
  readonly url: string;
  readonly token: string;
  /** The one that wrote the file: a copied folder, or a port that is used again, must not lead to somebody else's. */
  readonly instanceId?: string;
  /** The file that named it, or null when it was named by hand. */
  readonly file: GatewayFile | null;
  readonly home: string;
}

/** Finds the gateway: `--url`, else HOLDFAST_URL, else the home folder's `gateway.json`. It doesn't connect. */
export function findGateway(options: AddressOptions, environment: Environment): GatewayAddress {
  const home = resolveHome(options.home, environment);
  const url = addressByHand(options, environment);
  const token = options.token ?? environment.get('HOLDFAST_TOKEN');
  if (url !== undefined) return { url: checkedUrl(url), token: checkedToken(token), file: null, home };
  const found = readGatewayFile(home);
  if (found.kind === 'absent') throw unreachable(`No gateway runs for the home folder ${home}.`, home);
  if (found.kind === 'unreadable') throw unreachable(`The file of the gateway can't be used: ${found.reason}.`, home);
  const { url: foundUrl, token: foundToken, instance_id: instanceId } = found.gateway;
  return {
    url: foundUrl,
    token: checkedToken(options.token ?? foundToken),
    ...(instanceId === '' ? {} : { instanceId }),
    file: found.gateway,
    home,
  };
}

/** The address that somebody named, or undefined where the home folder's file is to be looked into. */
export function addressByHand({ url, home }: AddressOptions, environment: Environment): string | undefined {
  return url ?? (home === undefined ? environment.get('HOLDFAST_URL') : undefined);
}

/** Whether the process of the file is gone, so that whoever answers at its address is somebody else. */
export function isGone({ file }: GatewayAddress): boolean {
  return file !== null && file.pid > 0 && !isAlive(file.pid);
}

/** Says why an address doesn't answer, as far as it can be seen from here. */
export function explainSilence(found: GatewayAddress, reason: string): CliFailure {
  const { url, file, home } = found;
  if (file === null) return unreachable(`No gateway answers at ${url} (${reason}).`, null);
  if (isGone(found)) {
    return unreachable(`The gateway of ${home} is gone: its process ${file.pid} doesn't run any more.`, home);
  }
  return unreachable(`The gateway of ${home} doesn't answer at ${url} (${reason}).`, home);
}

function unreachable(message: string, home: string | null): CliFailure {
  const hint = home === null ? '' : `\nStart it with: holdfast serve --home '${home}'`;
  return new CliFailure(exitCodes.unreachable, 'no_gateway', `${message}${hint}`, { details: { retryable: true } });
}

function checkedUrl(url: string): string {
  if (URL.canParse(url) && ['ws:', 'wss:'].includes(new URL(url).protocol)) return url;
  throw new CliFailure(exitCodes.usage, 'usage', 'The address of a gateway looks like ws://127.0.0.1:7777/rpc.');
}

function checkedToken(token: string | undefined): string {
  if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return token;
  if (token !== undefined) {
    throw new CliFailure(exitCodes.usage, 'usage', 'The token has characters that no token has, such as a line end.');
  }
  const message =
    'An address by hand needs its token: HOLDFAST_TOKEN, or --token, which other users of this machine can see.';
  throw new CliFailure(exitCodes.usage, 'usage', message);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user is alive all the same.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
