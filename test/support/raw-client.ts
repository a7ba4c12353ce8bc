import { WebSocket } from 'ws';

/** A JSON-RPC client that knows nothing of our own client: it keeps its own books, so that it can judge ours. */
export class RawClient {
  readonly events: WireEvent[] = [];
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (answer: RpcAnswer) => void>();
  readonly #watchers = new Set<() => void>();
  #nextId = 1;
  #closed = false;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      this.#received(data.toString('utf8'));
    });
    socket.on('close', () => {
      this.#closed = true;
      for (const answer of this.#pending.values()) answer({ error: { code: 0, message: 'connection lost' } });
      this.#pending.clear();
      this.#wake();
    });
    socket.on('error', () => undefined); // 'close' follows
  }

  static async connect(url: string, token: string): Promise<RawClient> {
    const socket = new WebSocket(url, ['holdfast.v1'], { headers: { authorization: `Bearer ${token}` } });
    const client = new RawClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return client;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves with the answer as it came: `result` or `error`; `connection lost` when none can come any more. */
  request(method: string, params: unknown): Promise<RpcAnswer> {
    if (this.#closed) return Promise.resolve({ error: { code: 0, message: 'connection lost' } });
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  /** The result of a call that must succeed. */
  async call<T = Record<string, unknown>>(method: string, params: unknown = {}): Promise<T> {
    const answer = await this.request(method, params);
    if (answer.error !== undefined) throw new RpcFailure(method, answer.error);
    return answer.result as T; // the test says what it expects
  }

  /** The first event, past or future, that fits. */
  async event(matches: (event: WireEvent) => boolean, timeoutMs = 30_000): Promise<WireEvent> {
    const deadline = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const found = this.events.find(matches);
      if (found !== undefined) return found;
      if (this.#closed) throw new Error('the connection was lost before the event came');
      await new Promise<void>((resolve, reject) => {
        const stop = (): void => {
          reject(new Error(`no such event within ${String(timeoutMs)} ms; seen: ${this.#seen()}`));
        };
        deadline.addEventListener('abort', stop, { once: true });
        this.#watchers.add(() => {
          deadline.removeEventListener('abort', stop);
          resolve();
        });
      });
    }
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  close(): void {
    this.#socket.terminate();
  }

  #received(text: string): void {
    const message = JSON.parse(text) as { id?: number; method?: string; params?: WireEvent } & RpcAnswer; // our server's frames
    if (message.method === 'event' && message.params !== undefined) {
      this.events.push(message.params);
      this.#wake();
      return;
    }
    if (typeof message.id !== 'number') return;
    const answer = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    answer?.(message);
  }

  #wake(): void {
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const watcher of watchers) watcher();
  }

  #seen(): string {
    return this.events.map(({ type }) => type).join(', ');
  }
}

export interface WireEvent {
  readonly type: string;
  readonly session_id?: string;
  readonly seq?: number;
  readonly admission_id?: string;
  readonly execution_generation?: number;
  readonly payload?: Readonly<Record<string, unknown>>;
}

export interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  readonly reason: unknown;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(method: string, error: NonNullable<RpcAnswer['error']>) {
    super(`${method}: ${error.message} ${JSON.stringify(error.data ?? {})}`);
    this.data = error.data ?? {};
    this.reason = this.data['reason'];
  }
}
