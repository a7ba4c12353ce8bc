import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../../core/ports/clock.ts';
import { LineSplitter, type OverlongLine } from './line-splitter.ts';
import type { ServerLog } from './server-log.ts';
import { ServerProcess, type ProcessCommand } from './server-process.ts';
import { answerTooLarge, idOfOverlongAnswer } from './substitute-answers.ts';

const longestStderrLine = 2_000;

/**
 * MCP over the stdin and stdout of a process. The SDK's own transport can't put the child into a process group, which
 * is what makes it possible to end what the child has started.
 *
 * It also notices whether a cancelled request is answered after all: that is the only sign by which a server shows that
 * it has stopped its work. Such an answer goes no further.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: (<T extends JSONRPCMessage>(message: T) => void) | undefined;

  readonly #command: ProcessCommand;
  readonly #clock: Clock;
  readonly #log: ServerLog;
  readonly #stdout: LineSplitter;
  readonly #stderr: LineSplitter;
  #process: ServerProcess | null = null;
  #starting: Promise<unknown> | null = null;
  #ended: string | null = null;
  /** Requests that were cancelled and have not been answered. */
  readonly #cancelled = new Set<RequestId>();
  #whenHeeded: (() => void)[] = [];

  constructor(command: ProcessCommand, maxMessageBytes: number, clock: Clock, log: ServerLog) {
    this.#command = command;
    this.#clock = clock;
    this.#log = log;
    this.#stdout = new LineSplitter(maxMessageBytes, {
      onLine: (line) => this.#receive(line),
      onOverlongLine: (line) => this.#refuse(line),
    });
    this.#stderr = new LineSplitter(longestStderrLine, {
      onLine: (line) => log.stderr(line),
      onOverlongLine: ({ head, bytes }) => log.stderr(`${head}… (${bytes} bytes)`),
    });
  }

  /** How the process ended, if it has. */
  get ended(): string | null {
    return this.#ended;
  }

  async start(): Promise<void> {
    const sinks = {
      onStdout: (chunk: Buffer) => this.#stdout.push(chunk),
      onStderr: (chunk: Buffer) => this.#stderr.push(chunk),
    };
    const starting = ServerProcess.start(this.#command, sinks, this.#clock);
    this.#starting = starting;
    this.#process = await starting;
    void this.#process.ended.then((description) => this.#end(description));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#process === null) throw new Error('the process has not been started');
    if ('method' in message && message.method === 'notifications/cancelled') {
      const id = message.params?.['requestId'];
      if (typeof id === 'number' || typeof id === 'string') this.#cancelled.add(id);
    }
    await this.#process.write(`${JSON.stringify(message)}\n`);
  }

  close(): Promise<void> {
    return this.stop('politely');
  }

  /** Like `close`, in a chosen manner; it may be called in any state and again. It never rejects. */
  async stop(manner: 'politely' | 'now'): Promise<void> {
    await this.#starting?.catch(() => undefined);
    await this.#process?.stop(manner);
    this.#end('its process does not end');
  }

  /** Whether every cancelled request is answered, or the process gone, within `ms`. */
  async heedsCancels(ms: number): Promise<boolean> {
    if (this.#cancelled.size === 0 || this.#ended !== null) return true;
    const waiting = new AbortController();
    const heeded = new Promise<true>((resolve) => this.#whenHeeded.push(() => resolve(true)));
    const late = this.#clock.sleep(ms, waiting.signal).then(() => false);
    const result = await Promise.race([heeded, late]);
    waiting.abort();
    return result;
  }

  #receive(line: string): void {
    if (line.trim() === '') return;
    const message = parseJson(line);
    // A batch, which the protocol knew until 2025-06-18, is taken apart.
    for (const one of Array.isArray(message) ? message : [message]) {
      if (typeof one === 'object' && one !== null)
        this.#deliver(one as JSONRPCMessage); // the SDK checks its shape
      else this.#log.oddity(`not a message on stdout: ${line.slice(0, longestStderrLine)}`);
    }
  }

  #deliver(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined && this.#cancelled.delete(message.id)) {
      if (this.#cancelled.size === 0) this.#heeded();
      return;
    }
    try {
      this.onmessage?.(message);
    } catch (error) {
      // Nothing that a server sends may end the process that reads it.
      this.#log.oddity(`a message that can't be handled: ${String(error)}`);
    }
  }

  #refuse(line: OverlongLine): void {
    const id = idOfOverlongAnswer(line);
    if (id !== null) {
      this.#deliver(answerTooLarge(id));
      return;
    }
    this.#log.oddity(`a message of ${line.bytes} bytes, which is too large`);
    void this.stop('now');
  }

  #end(description: string): void {
    if (this.#ended !== null) return;
    this.#ended = description;
    this.#heeded();
    this.onclose?.();
  }

  #heeded(): void {
    const waiting = this.#whenHeeded;
    this.#whenHeeded = [];
    for (const resolve of waiting) resolve();
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
