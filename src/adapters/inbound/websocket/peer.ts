import type { Scope } from '../../../protocol/method.ts';

/** Who a token belongs to. */
export interface SocketPrincipal {
  readonly principalId: string;
  readonly scopes: readonly Scope[];
}

/** A client's socket, as whoever serves it sees it. */
export interface Peer {
  reply(frame: Uint8Array): void;
  event(frame: Uint8Array): boolean;
  liveEvent(frame: Uint8Array): void;
  drained(): Promise<void>;
  close(code: number, reason: string): void;
}

/** Whoever serves the client. */
export interface ConnectionHandler {
  receive(text: string): void;
  closed(): void;
}

/** Called once for each client, after the upgrade; it may send at once. */
export type OpenConnection = (peer: Peer, principal: SocketPrincipal) => ConnectionHandler;
