import { createHash, timingSafeEqual } from 'node:crypto';
import type { SocketPrincipal } from './peer.ts';

export interface Credential extends SocketPrincipal {
  readonly token: string;
}

/** The principal of a token, or null for a token that nobody has. */
export type Authenticate = (token: string) => SocketPrincipal | null;

/** Takes the same time for every token of a length: digests are compared, and all of them. */
export function makeAuthenticate(credentials: readonly Credential[]): Authenticate {
  const known = credentials.map(({ token, principalId, scopes }) => ({ digest: digestOf(token), principalId, scopes }));
  return (token) => {
    const digest = digestOf(token);
    let found: SocketPrincipal | null = null;
    for (const { digest: other, principalId, scopes } of known) {
      if (timingSafeEqual(digest, other)) found = { principalId, scopes };
    }
    return found;
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
