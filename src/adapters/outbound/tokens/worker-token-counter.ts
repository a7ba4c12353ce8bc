import { Worker } from 'node:worker_threads';
import type { Logger } from '../../../core/ports/logger.ts';
import type { TokenCounter } from '../../../core/ports/token-counter.ts';
import type { CountReply, CountRequest } from './tokenizer-worker.ts';

export interface WorkerTokenCounterOptions {
  readonly logger?: Pick<Logger, 'warn'>;
  /** How long the thread may take for one batch, loading included, before the bytes decide. */
  readonly patienceMs?: number;
  /** Starts the thread; tests give one that breaks. */
  readonly startWorker?: () => Worker;
}

interface Pending {
  readonly resolve: (counts: readonly number[] | null) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Counts with OpenAI's o200k tokenizer in a thread of its own, which is started by `warm` or by the first count. Where
 * the thread can't be had, the bytes decide, as the port promises. The thread never keeps the process alive, except while
 * somebody waits for a count.
 */
export class WorkerTokenCounter implements TokenCounter {
  readonly #options: WorkerTokenCounterOptions;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | null = null;
  #nextId = 1;
  #deaths = 0;
  #isClosed = false;

  constructor(options: WorkerTokenCounterOptions = {}) {
    this.#options = options;
  }

  async count(texts: readonly string[]): Promise<readonly number[]> {
    if (texts.every((text) => text === '')) return texts.map(() => 0);
    const counted = await this.#ask(texts);
    return texts.map((text, index) => Math.max(counted?.[index] ?? 0, Math.ceil(Buffer.byteLength(text) / 4)));
  }

  /** Loads the table ahead of the first count. */
  warm(): void {
    this.#running();
  }

  /** Ends the thread. Whoever waits gets the count by bytes, and so does every later caller. */
  close(): void {
    this.#isClosed = true;
    this.#giveUp();
  }

  #ask(texts: readonly string[]): Promise<readonly number[] | null> {
    const worker = this.#running();
    if (worker === null) return Promise.resolve(null);
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.#died(worker, 'it did not answer in time'),
        this.#options.patienceMs ?? 30_000,
      );
      this.#pending.set(id, { resolve, timer });
      worker.ref();
      worker.postMessage({ id, texts } satisfies CountRequest);
    });
  }

  #running(): Worker | null {
    if (this.#isClosed || this.#deaths >= maxDeaths) return null;
    return this.#worker ?? this.#start();
  }

  #start(): Worker | null {
    try {
      const worker = (this.#options.startWorker ?? startTokenizer)();
      worker.unref();
      worker.on('message', (reply: CountReply) => this.#answer(reply));
      worker.on('error', (error) => this.#died(worker, error.message));
      worker.on('exit', () => this.#died(worker, 'it ended'));
      this.#worker = worker;
      return worker;
    } catch (error) {
      this.#deaths = maxDeaths;
      this.#warn(error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  #answer({ id, counts }: CountReply): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    clearTimeout(pending.timer);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker?.unref();
    pending.resolve(counts);
  }

  #died(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return; // The same death, told twice.
    this.#deaths += 1;
    this.#warn(reason);
    this.#giveUp();
  }

  #giveUp(): void {
    const worker = this.#worker;
    this.#worker = null;
    for (const { resolve, timer } of this.#pending.values()) {
      clearTimeout(timer);
      resolve(null);
    }
    this.#pending.clear();
    void worker?.terminate();
  }

  #warn(reason: string): void {
    const again = this.#deaths < maxDeaths ? 'the next count tries again' : 'from now on tokens are counted by bytes';
    this.#options.logger?.warn(`the tokenizer's thread failed: ${again}`, { reason });
  }
}

/** After so many deaths the thread is not started again. */
const maxDeaths = 3;

function startTokenizer(): Worker {
  const fromSources = import.meta.url.endsWith('.ts');
  const url = new URL(`./tokenizer-worker.${fromSources ? 'ts' : 'js'}`, import.meta.url);
  return new Worker(url, { name: 'holdfast tokenizer', ...(fromSources && { execArgv: loaderOfSources() }) });
}

/** Compiled code runs as it is. From sources a thread needs the loader, and tsx registers itself in main threads only. */
function loaderOfSources(): string[] {
  const script = `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))}; register();`;
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}
