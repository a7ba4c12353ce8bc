/*
 * What is done to a home folder while no gateway runs. Each holds the owner lock meanwhile, so that none can start.
 */
import { lstatSync } from 'node:fs';
import { acquireOwnerLock } from '../adapters/outbound/sqlite/owner-lock.ts';
import { judgeStore } from '../adapters/outbound/sqlite/open-store.ts';
import { acceptLoss, restoreBackup } from '../adapters/outbound/sqlite/restore-store.ts';
import type { Restored } from '../adapters/outbound/sqlite/restore-store.ts';
import { copyStore } from '../adapters/outbound/sqlite/store-copy.ts';
import { storePath } from '../adapters/outbound/sqlite/store-files.ts';
import { StoreOpenError } from '../adapters/outbound/sqlite/store-open-error.ts';
import { SystemClock } from '../adapters/outbound/system/system-clock.ts';
import { UuidIds } from '../adapters/outbound/system/uuid-ids.ts';
import { exitCodes } from '../config/exit-codes.ts';
import type { ExitCode } from '../config/exit-codes.ts';
import type { Backup } from '../core/ports/backups.ts';
import { backupPathProblem } from './backup-path.ts';

export type Ended<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly exitCode: ExitCode; readonly reason: string; readonly message: string };

/** Copies the store of a home folder. What a start would refuse is not copied as if it were whole. */
export async function backUpHome(home: string, file: string): Promise<Ended<Backup>> {
  const path = storePath(home);
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
      return failed(exitCodes.storage, 'no_store', `There is no store in ${home}.`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return failed(exitCodes.storage, 'unwritable', `The home folder ${home} can't be looked into: ${reason}.`);
  }
  return asOwner<Backup>(home, async () => {
    const problem = backupPathProblem(home, file);
    if (problem !== null) return failed(exitCodes.usage, 'usage', `${file} ${problem}.`);
    judgeStore(home, { use: 'read', busyTimeoutMs: 0 });
    const outcome = await copyStore(path, file);
    if (outcome.kind === 'done') return { kind: 'done', value: outcome.backup };
    if (outcome.kind === 'failed') return failed(exitCodes.storage, 'backup_failed', outcome.reason);
    return failed(exitCodes.storage, 'damaged', `${path} is damaged, so there is no backup: ${outcome.damage}.`);
  });
}

/** Puts a backup in the place of a home folder's store, or, without one, accepts the store as it is. */
export async function restoreHome(home: string, backup: string | null): Promise<Ended<Restored>> {
  return asOwner<Restored>(home, async () => {
    const options = { home, newStoreId: new UuidIds().next(), at: new SystemClock().now() };
    const value = backup === null ? acceptLoss(options) : await restoreBackup(backup, options);
    return { kind: 'done', value };
  });
}

async function asOwner<T>(home: string, use: () => Promise<Ended<T>>): Promise<Ended<T>> {
  try {
    const lock = acquireOwnerLock(home, { allowUnsafeFilesystem: true });
    if (lock.kind === 'taken') {
      return failed(exitCodes.owned, 'owned', `A gateway has the home folder ${home}. Stop it first, then try again.`);
    }
    try {
      return await use();
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!(error instanceof StoreOpenError)) throw error;
    return failed(exitCodes.storage, error.kind, error.message);
  }
}

function failed(exitCode: ExitCode, reason: string, message: string): Ended<never> {
  return { kind: 'failed', exitCode, reason, message };
}
