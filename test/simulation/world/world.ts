/*
 * The world in which a history happens: tasks that could run, one of which is picked and run at a time.
 *
 * W1: everything that waits for something outside the core waits for a task; no timer, no real input or output.
 * W2: after a task every microtask runs before the next task is picked, so that equal decisions give equal histories.
 * W3: what belongs to a process that has died never runs; what belongs to a frozen one waits.
 */
import type { Decisions } from './decisions.ts';
import type { Trace } from './trace.ts';

/** Whom a task belongs to. */
export interface Owner {
  readonly name: string;
  readonly alive: boolean;
  readonly frozen: boolean;
}

export interface Task {
  readonly owner: Owner | null;
  readonly label: string;
  readonly run: () => void;
}

/** Offers a task that could run now although nobody has put it on the list, or null. */
export type TaskSource = () => Task | null;

export class World {
  readonly decisions: Decisions;
  readonly trace: Trace;
  readonly #tasks: Task[] = [];
  readonly #sources: TaskSource[] = [];
  #steps = 0;

  constructor(decisions: Decisions, trace: Trace) {
    this.decisions = decisions;
    this.trace = trace;
  }

  get steps(): number {
    return this.#steps;
  }

  /** The labels of what waits for this owner: where a crash would hit it. */
  waitingFor(owner: Owner): readonly string[] {
    return this.#tasks.filter((task) => task.owner === owner).map((task) => task.label);
  }

  add(owner: Owner | null, label: string, run: () => void): void {
    this.#tasks.push({ owner, label, run });
  }

  addSource(source: TaskSource): void {
    this.#sources.push(source);
  }

  /** Forgets the tasks of the dead. */
  bury(): void {
    for (let index = this.#tasks.length - 1; index >= 0; index -= 1) {
      if (this.#tasks[index]?.owner?.alive === false) this.#tasks.splice(index, 1);
    }
  }

  /**
   * A call to the outside with its two events: it takes effect, and its answer arrives. In between anything may
   * happen to the caller. What `effect` throws arrives as a rejection.
   */
  call<T>(owner: Owner, label: string, effect: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.add(owner, label, () => {
        try {
          const result = effect();
          this.add(owner, `${label} ↩`, () => resolve(result));
        } catch (error) {
          this.add(owner, `${label} ↩ error`, () => reject(asError(error)));
        }
      });
    });
  }

  /** Runs one task and all that follows from it at once. False: nothing could run. */
  async step(): Promise<boolean> {
    if (!this.#runOne()) return false;
    // Several answers may arrive in the same turn of the event loop.
    while (this.decisions.fault('burst', 2) === 1 && this.#runOne());
    await allMicrotasks();
    return true;
  }

  #runOne(): boolean {
    const ready = this.#tasks.filter(({ owner }) => owner === null || (owner.alive && !owner.frozen));
    const offered = this.#sources.flatMap((source) => source() ?? []);
    const count = ready.length + offered.length;
    if (count === 0) return false;
    const index = this.decisions.pick(count);
    const task = ready[index] ?? offered[index - ready.length];
    if (task === undefined) return false;
    if (index < ready.length) this.#tasks.splice(this.#tasks.indexOf(task), 1);
    this.#steps += 1;
    this.trace.line(task.owner?.name ?? '·', task.label);
    task.run();
    return true;
  }
}

/** Resolves when everything that can run without an input or a timer has run. */
function allMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
