import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * The test's side of the lifeline: hears what the processes of a test say, and knows which of them live, because the
 * kernel closes a dead process's connection. A process says its label first.
 */
export class Lifeline {
  readonly path: string;
  readonly #folder: string;
  readonly #server: Server;
  readonly #sockets = new Map<Socket, string>();
  /** `label: what it said`, `label: gone`. */
  readonly #events: string[] = [];
  #watchers: (() => void)[] = [];

  static async open(): Promise<Lifeline> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-lifeline-'));
    const server = createServer();
    const lifeline = new Lifeline(folder, server);
    await new Promise<void>((resolve) => server.listen(lifeline.path, resolve));
    return lifeline;
  }

  private constructor(folder: string, server: Server) {
    this.#folder = folder;
    this.path = join(folder, 'socket');
    this.#server = server;
    server.on('connection', (socket) => this.#accept(socket));
  }

  /** The labels of the processes that live. */
  get alive(): readonly string[] {
    return [...this.#sockets.values()];
  }

  /** Resolves when this has been heard `times` times, with what `pattern` caught last. */
  async heard(pattern: RegExp, times = 1): Promise<string> {
    for (;;) {
      const found = this.#events.flatMap((event) => pattern.exec(event) ?? []);
      const matches = this.#events.filter((event) => pattern.test(event)).length;
      if (matches >= times) return found.at(-1) ?? '';
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  count(pattern: RegExp): number {
    return this.#events.filter((event) => pattern.test(event)).length;
  }

  async allGone(): Promise<void> {
    while (this.#sockets.size > 0) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.keys()) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#folder, { recursive: true });
  }

  #accept(socket: Socket): void {
    this.#sockets.set(socket, '?');
    socket.on('error', () => undefined);
    createInterface({ input: socket }).on('line', (line) => {
      if (this.#sockets.get(socket) === '?') {
        this.#sockets.set(socket, line);
        this.#note(`${line}: here`);
      } else this.#note(`${this.#sockets.get(socket)}: ${line}`);
    });
    socket.on('close', () => {
      const label = this.#sockets.get(socket);
      this.#sockets.delete(socket);
      this.#note(`${label}: gone`);
    });
  }

  #note(event: string): void {
    this.#events.push(event);
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const wake of watchers) wake();
  }
}
