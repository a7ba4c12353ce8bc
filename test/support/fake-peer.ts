import { makeRpcServer } from '../../src/adapters/inbound/rpc/rpc-server.ts';
import type { Principal, RpcDependencies } from '../../src/adapters/inbound/rpc/dependencies.ts';
import type { RpcConnection, RpcPeer } from '../../src/adapters/inbound/rpc/peer.ts';
import { errorData } from '../../src/protocol/errors.ts';
import { anyEvent } from '../../src/protocol/events.ts';
import { findMethod } from '../../src/protocol/registry.ts';

const everyScope: Principal = { principalId: 'local', scopes: ['read', 'write', 'admin'] };

/** A frame from the server, read and not believed. */
export interface ServerFrame {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown> & { type: string; seq?: number; payload: Record<string, unknown> };
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data: Record<string, unknown> & { reason: string } };
}

/**
 * A client without a socket: it keeps the frames in the order in which they came. It is strict: an event, an error or a
 * result that is not what the protocol defines fails the test.
 */
export class FakePeer implements RpcPeer {
  readonly frames: (ServerFrame | readonly ServerFrame[])[] = [];
  readonly closes: { code: number; reason: string }[] = [];
  /** Whether another event fits. */
  hasRoom = true;
  #watchers: (() => void)[] = [];
  #connection: RpcConnection | undefined;
  #lastId = 1_000;

  static connect(deps: RpcDependencies, principal: Principal = everyScope): FakePeer {
    const peer = new FakePeer();
    peer.#connection = makeRpcServer(deps)(peer, principal);
    return peer;
  }

  reply(frame: Uint8Array): void {
    const read = JSON.parse(Buffer.from(frame).toString()) as ServerFrame | readonly ServerFrame[];
    for (const { params, error } of isSingle(read) ? [read] : read) {
      if (params !== undefined) anyEvent.parse(params);
      if (error !== undefined) errorData.parse(error.data);
    }
    this.frames.push(read);
    for (const wake of this.#watchers.splice(0)) wake();
  }

  event(frame: Uint8Array): boolean {
    if (this.hasRoom) this.reply(frame);
    return this.hasRoom;
  }

  liveEvent(frame: Uint8Array): void {
    this.event(frame);
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  close(code: number, reason: string): void {
    this.closes.push({ code, reason });
  }

  hangUp(): void {
    this.#connection?.closed();
  }

  send(text: string): void {
    this.#connection?.receive(text);
  }

  /** Starts a call and resolves with its answer. */
  async request(method: string, params: unknown = {}): Promise<ServerFrame> {
    const id = (this.#lastId += 1);
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return this.answer(id);
  }

  async call(method: string, params: unknown = {}): Promise<Record<string, unknown>> {
    const { result, error } = await this.request(method, params);
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    findMethod(method)?.result.parse(result);
    return result;
  }

  answer(id: string | number | null): Promise<ServerFrame> {
    return this.frame((frame) => frame.id === id);
  }

  /** The first single frame, past or future, that fits. */
  async frame(fits: (frame: ServerFrame) => boolean): Promise<ServerFrame> {
    for (;;) {
      const found = this.frames.flatMap((frame) => (isSingle(frame) ? [frame] : [])).find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  /** The first answer to a batch. */
  async batch(): Promise<readonly ServerFrame[]> {
    for (;;) {
      const found = this.frames.flatMap((frame) => (isSingle(frame) ? [] : [frame]))[0];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  get events(): readonly NonNullable<ServerFrame['params']>[] {
    return this.frames.flatMap((frame) => (isSingle(frame) && frame.params !== undefined ? [frame.params] : []));
  }
}

function isSingle(frame: ServerFrame | readonly ServerFrame[]): frame is ServerFrame {
  return !Array.isArray(frame);
}
