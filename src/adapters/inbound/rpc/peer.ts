import type { Principal } from './dependencies.ts';

/** The other end of a connection, as the methods see it. A frame for a peer that has gone is dropped. */
export interface RpcPeer {
  /** Sends an answer. A peer that leaves its answers unread is disconnected. */
  reply(frame: Uint8Array): void;
  /** Sends a durable event; false when it would not fit the backlog, and then it isn't sent. */
  event(frame: Uint8Array): boolean;
  /** Sends a live event, or drops it when the peer is slow. */
  liveEvent(frame: Uint8Array): void;
  /** Resolves when the backlog is short, and when the peer has gone. */
  drained(): Promise<void>;
  close(code: number, reason: string): void;
}

/** This end of a connection. */
export interface RpcConnection {
  /** Takes a text frame. It never throws and never rejects. */
  receive(text: string): void;
  /** The peer has gone. What it asked for goes on; what it waited for does not. */
  closed(): void;
}

/** Greets a peer and serves it. */
export type OpenRpcConnection = (peer: RpcPeer, principal: Principal) => RpcConnection;
