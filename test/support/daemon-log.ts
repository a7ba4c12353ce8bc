import type { Daemon } from './daemon.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** The log of a daemon while it is written: one JSON object a line, on stderr. */
export class DaemonLog {
  readonly lines: LogLine[] = [];
  readonly #daemon: Daemon;
  readonly #watchers = new Set<() => void>();
  #rest = '';
  #ended = false;

  /** Make it before the daemon can have written anything: in the same step as the spawn. */
  constructor(daemon: Daemon) {
    this.#daemon = daemon;
    daemon.child.stderr?.on('data', (chunk: Buffer) => {
      this.#received(chunk.toString('utf8'));
    });
    void daemon.exited.then(() => {
      this.#ended = true;
      this.#wake();
    });
  }

  /** The first line, past or future, that fits; or an error when the daemon ends without it. */
  async line(matches: string | ((line: LogLine) => boolean)): Promise<LogLine> {
    const fits = typeof matches === 'string' ? (line: LogLine): boolean => line.message === matches : matches;
    for (;;) {
      const found = this.lines.find(fits);
      if (found !== undefined) return found;
      if (this.#ended) throw new Error(`the daemon ended without the line:\n${this.#daemon.output}`);
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  #received(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('{')) this.lines.push(JSON.parse(line) as LogLine); // the daemon's own format
    }
    this.#wake();
  }

  #wake(): void {
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const watcher of watchers) watcher();
  }
}
