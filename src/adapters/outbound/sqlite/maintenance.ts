import { StorageError } from '../../../core/ports/ledger.ts';
import type { BackupOutcome, Backups } from '../../../core/ports/backups.ts';
import type { FailStop } from './fail-stop.ts';
import type { MaintenanceApi } from './maintenance-worker.ts';
import { removeCopy, temporaryNameOf } from './store-copy.ts';
import { startMaintenanceThread } from './storage-threads.ts';
import type { WorkerChannel } from './worker-channel.ts';

/** What is done with a whole store while it is in use, each in a thread of its own: backups, and the look for damage. */
export class Maintenance implements Backups {
  readonly #path: string;
  readonly #failStop: FailStop;
  readonly #threads = new Set<WorkerChannel<MaintenanceApi>>();
  #copying = false;

  constructor(path: string, failStop: FailStop) {
    this.#path = path;
    this.#failStop = failStop;
  }

  async backUp(target: string): Promise<BackupOutcome> {
    if (this.#copying) return { kind: 'failed', reason: 'Another backup is being written. Try again when it is done.' };
    this.#copying = true;
    try {
      const outcome = await this.#inThread((thread) => thread.call('copy', this.#path, target));
      return outcome.kind === 'damaged' ? await this.#damagedCopy(target, outcome.damage) : outcome;
    } catch (error) {
      removeCopy(temporaryNameOf(target)); // the thread was ended in the middle of it
      return {
        kind: 'failed',
        reason: `The backup was broken off: ${error instanceof Error ? error.message : String(error)}.`,
      };
    } finally {
      this.#copying = false;
    }
  }

  async findDamage(): Promise<readonly string[]> {
    const damage = await this.#inThread((thread) => thread.call('findDamage', this.#path));
    if (damage.length > 0) {
      this.#failStop.trip(new StorageError('corrupt', `${this.#path} is damaged: ${damage.join('; ')}`));
    }
    return damage;
  }

  /** Ends what is being done. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  /** Whose fault it is, the store's or the disk's on which the copy was written. */
  async #damagedCopy(target: string, damage: string): Promise<BackupOutcome> {
    const [found] = await this.findDamage();
    const reason =
      found === undefined
        ? `The copy at ${target} did not pass its check (${damage}), but the store does: look at the disk of the copy.`
        : `The store is damaged: ${found}.`;
    return { kind: 'failed', reason };
  }

  async #inThread<T>(use: (thread: WorkerChannel<MaintenanceApi>) => Promise<T>): Promise<T> {
    const thread = startMaintenanceThread();
    this.#threads.add(thread);
    try {
      return await use(thread);
    } finally {
      this.#threads.delete(thread);
      await thread.terminate();
    }
  }
}
