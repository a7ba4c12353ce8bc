import type { World } from '../world/world.ts';
import type { GatewayProcess } from './gateway-process.ts';

/**
 * A socket between a client and a process: frames arrive one by one, in order, on both sides, as long as it holds.
 * What is on its way when it breaks is lost.
 */
export class Connection {
  readonly process: GatewayProcess;
  readonly name: string;
  readonly #world: World;
  readonly #backlog: number;
  readonly #towardsServer: (() => void)[] = [];
  readonly #towardsClient: (() => void)[] = [];
  #waitingForRoom: (() => void)[] = [];
  readonly #onClose: (() => void)[] = [];
  #open = true;

  constructor(world: World, process: GatewayProcess, name: string, backlog: number) {
    this.#world = world;
    this.process = process;
    this.name = name;
    this.#backlog = backlog;
  }

  get open(): boolean {
    return this.#open && this.process.alive;
  }

  /** Whether another frame may wait for the client. */
  get hasRoom(): boolean {
    return this.#towardsClient.length < this.#backlog;
  }

  request(label: string, serve: () => void): void {
    this.#towardsServer.push(serve);
    this.#world.add(this.process, `${this.name} asks: ${label}`, () => {
      const next = this.#towardsServer.shift();
      if (this.open) next?.();
    });
  }

  push(label: string, receive: () => void): void {
    this.#towardsClient.push(receive);
    this.#world.add(null, `${this.name} hears: ${label}`, () => {
      const next = this.#towardsClient.shift();
      if (!this.#open) return;
      next?.();
      if (this.hasRoom) for (const wake of this.#waitingForRoom.splice(0)) wake();
    });
  }

  room(): Promise<void> {
    if (this.hasRoom) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForRoom.push(resolve));
  }

  onClose(listener: () => void): void {
    this.#onClose.push(listener);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#waitingForRoom = [];
    for (const listener of this.#onClose) listener();
  }
}
