import { textLength } from '../../../core/domain/transcript/content-page.ts';
import { StorageError } from '../../../core/ports/ledger.ts';
import type { AppendRequest, AppendResult } from '../../../core/ports/ledger.ts';
import type { AppendOutcome } from './store.ts';

/** Commits a batch as one transaction. It rejects when the storage failed for all of it. */
export type CommitBatch = (requests: readonly AppendRequest[]) => Promise<readonly AppendOutcome[]>;

/** What one transaction takes at most, so that a great many appends don't wait for each other's last. */
const maxBatchRequests = 256;
const maxBatchBytes = 1024 * 1024;

/**
 * Gathers appends into batches: what arrives in one turn of the event loop, and while a commit runs, forms the next
 * transaction. No timer is involved, so that an append alone waits for nothing.
 *
 * Q1: appends are committed in the order of their calls. Q2: one batch is under way at a time. Q3: after a failure that
 * leaves the outcome unknown nothing more is committed: every append is rejected with that failure.
 */
export class AppendQueue {
  readonly #commit: CommitBatch;
  #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;
  #broken: StorageError | null = null;

  constructor(commit: CommitBatch) {
    this.#commit = commit;
  }

  append(request: AppendRequest): Promise<AppendResult> {
    if (this.#broken !== null) return Promise.reject(this.#broken);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Nothing is committed from now on (Q3). What is under way still gets its own answer. */
  breakOff(error: StorageError): void {
    this.#broken ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#broken);
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drain(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #run(): Promise<void> {
    // Between two batches the event loop goes round once, so that nobody starves and more can gather.
    for (await nextTurn(); this.#waiting.length > 0; await nextTurn()) await this.#commitNext();
    this.#running = null;
  }

  async #commitNext(): Promise<void> {
    const batch = this.#waiting.splice(0, batchLength(this.#waiting));
    try {
      const outcomes = await this.#commit(batch.map(({ request }) => request));
      for (const [index, waiting] of batch.entries()) answer(waiting, outcomes[index]);
    } catch (error) {
      for (const { reject } of batch) reject(error);
      if (error instanceof StorageError && error.outcomeUnknown) this.breakOff(error);
    }
  }
}

interface Waiting {
  readonly request: AppendRequest;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

function answer({ resolve, reject }: Waiting, outcome: AppendOutcome | undefined): void {
  if (outcome?.kind === 'answered') resolve(outcome.result);
  else reject(outcome?.error ?? new Error('An append of a batch was not answered'));
}

/** At least one, however large it is. */
function batchLength(waiting: readonly Waiting[]): number {
  let bytes = 0;
  for (const [index, { request }] of waiting.entries()) {
    bytes += textLength(request.events);
    if (index >= maxBatchRequests || (index > 0 && bytes > maxBatchBytes)) return index;
  }
  return waiting.length;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
