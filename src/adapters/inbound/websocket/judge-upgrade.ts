import type { IncomingHttpHeaders } from 'node:http';
import { protocolName, rpcPath, tokenProtocolPrefix } from '../../../protocol/limits.ts';
import type { Authenticate } from './authenticate.ts';
import type { FailureLimit } from './failure-limit.ts';
import type { SocketPrincipal } from './peer.ts';
import type { Refusal } from './refuse-upgrade.ts';

export interface UpgradeRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
}

export interface UpgradePolicy {
  /** Hosts with and without port that name this gateway, in lower case. */
  readonly hosts: ReadonlySet<string>;
  readonly allowedOrigins: readonly string[];
  readonly authenticate: Authenticate;
  readonly failures: FailureLimit;
  /** Whether clients are served, and there is room for one more. */
  readonly isOpen: () => boolean;
  readonly hasRoom: () => boolean;
}

export type UpgradeVerdict =
  | { readonly kind: 'accepted'; readonly principal: SocketPrincipal }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * Decides on a client before it has a socket. The order matters: a request from a foreign page is refused for that,
 * whether or not its token is right, and nothing that depends on the token is said before it was checked.
 */
export function judgeUpgrade(request: UpgradeRequest, policy: UpgradePolicy): UpgradeVerdict {
  const refusal = addressRefusal(request) ?? browserRefusal(request, policy) ?? protocolRefusal(request);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  if (!policy.isOpen()) return busy('starting', 'The gateway is not ready yet.');
  const token = tokenOf(request.headers);
  const principal = token === undefined ? null : policy.authenticate(token);
  if (principal === null) return unauthorized(request, policy);
  if (!policy.hasRoom()) return busy('overloaded', 'The gateway has as many connections as it may have.');
  return { kind: 'accepted', principal };
}

function addressRefusal({ url, headers }: UpgradeRequest): Refusal | undefined {
  const [path, query] = url.split('?', 2);
  if (path !== rpcPath) return { status: 404, reason: 'not_found', message: `Connect to ${rpcPath}.` };
  if (query !== undefined) {
    const message = `${rpcPath} takes no query: a token in an address ends up in logs. Send "Authorization: Bearer <token>", or the subprotocol ${tokenProtocolPrefix}<token>.`;
    return { status: 400, reason: 'invalid_request', message };
  }
  if (headers.upgrade?.toLowerCase() !== 'websocket') {
    return {
      status: 426,
      reason: 'invalid_request',
      message: 'Connect with WebSocket.',
      headers: { upgrade: 'websocket' },
    };
  }
  return undefined;
}

/** Any page in a browser on this machine can reach a loopback port, under any name that it can make resolve to it. */
function browserRefusal({ headers }: UpgradeRequest, policy: UpgradePolicy): Refusal | undefined {
  if (!isKnownHost(headers.host, policy.hosts)) {
    return { status: 403, reason: 'forbidden', message: 'The Host header does not name this gateway.' };
  }
  const { origin } = headers;
  // A browser always says where a WebSocket comes from; only other programs leave the origin out.
  const isBrowser = origin !== undefined || headers['sec-fetch-site'] !== undefined;
  if (isBrowser && !policy.allowedOrigins.includes(origin?.toLowerCase() ?? '')) {
    return { status: 403, reason: 'forbidden', message: 'The origin is not on the list gateway.allowed_origins.' };
  }
  return undefined;
}

function protocolRefusal({ headers }: UpgradeRequest): Refusal | undefined {
  const offered = offeredProtocols(headers);
  if (offered.length === 0 || offered.includes(protocolName)) return undefined;
  return { status: 400, reason: 'invalid_request', message: `Offer the subprotocol ${protocolName}.` };
}

function isKnownHost(host: string | undefined, hosts: ReadonlySet<string>): boolean {
  if (host === undefined) return false;
  const name = host.toLowerCase();
  return hosts.has(name) || hosts.has(name.replace(/:\d+$/, ''));
}

function tokenOf(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  return offeredProtocols(headers)
    .find((name) => name.startsWith(tokenProtocolPrefix))
    ?.slice(tokenProtocolPrefix.length);
}

function offeredProtocols(headers: IncomingHttpHeaders): readonly string[] {
  const list = headers['sec-websocket-protocol'];
  return list === undefined ? [] : list.split(',').map((name) => name.trim());
}

function unauthorized({ remoteAddress }: UpgradeRequest, { failures }: UpgradePolicy): UpgradeVerdict {
  const retryAfterSeconds = failures.count(remoteAddress);
  const refusal: Refusal =
    retryAfterSeconds === 0
      ? {
          status: 401,
          reason: 'unauthorized',
          message: 'The token is missing or wrong.',
          headers: { 'www-authenticate': 'Bearer' },
        }
      : {
          status: 429,
          reason: 'rate_limited',
          message: 'Too many failed attempts from this address. A right token is still let in.',
          headers: { 'retry-after': String(retryAfterSeconds) },
        };
  return { kind: 'refused', refusal };
}

function busy(reason: Refusal['reason'], message: string): UpgradeVerdict {
  return { kind: 'refused', refusal: { status: 503, reason, message, headers: { 'retry-after': '1' } } };
}
