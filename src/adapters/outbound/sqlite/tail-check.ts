import type { FoundMark, HighWaterMark } from './high-water-mark.ts';
import { StoreOpenError } from './store-open-error.ts';
import type { LogState } from './write-ahead-log.ts';

/** What a store says of itself before anything of it is changed. */
export interface StoreFacts {
  readonly storeId: string;
  readonly epoch: number;
  /** The newest commit, the log included. */
  readonly commits: number;
  /** The newest commit in the database file alone; null where it can't be told. */
  readonly commitsInFile: number | null;
}

/**
 * How a store and its mark fit together.
 *
 * - `new`: neither has seen a commit.
 * - `intact`: nothing that the mark knows of is missing.
 * - `unproven`: its numbers are right, but whoever removed its log may have done so before all of it was in the file.
 *   Pages go into the file in the order of their numbers, and the one with the numbers is among the first.
 * - `unmarked`: there is no mark, or none that can be read, so that nobody knows what may be missing.
 */
export type TailVerdict =
  | { readonly kind: 'new' }
  | { readonly kind: 'intact'; readonly mark: HighWaterMark }
  | { readonly kind: 'unproven'; readonly mark: HighWaterMark }
  | { readonly kind: 'unmarked'; readonly unreadable: boolean };

/** Judges before anything is changed. Throws a `StoreOpenError` when acknowledged commits are missing. */
export function checkTail(
  path: string,
  { facts, found, log }: { readonly facts: StoreFacts | null; readonly found: FoundMark; readonly log: LogState },
): TailVerdict {
  if (found.kind !== 'found') {
    // Nobody has owned a store of epoch 0: it is one whose first start was cut off.
    return facts === null || facts.epoch === 0
      ? { kind: 'new' }
      : { kind: 'unmarked', unreadable: found.kind === 'unreadable' };
  }
  const { mark } = found;
  if (facts === null) {
    if (mark.commits === 0) return { kind: 'new' };
    throw tailMissing(path, mark, 'is missing or empty');
  }
  if (facts.storeId !== mark.storeId) throw otherStore(path, facts, mark);
  if (facts.commits < mark.commits) throw tailMissing(path, mark, `ends with commit ${String(facts.commits)}`);
  if (facts.commitsInFile !== null && facts.commitsInFile < mark.checkpointed) throw olderFile(path, facts, mark);
  // An owner that empties the log has noted before that all of it is in the file.
  const proven = mark.state === 'closed' || log === 'present' || facts.commits === mark.checkpointed;
  return { kind: proven ? 'intact' : 'unproven', mark };
}

/** What can be told without opening the database. Throws a `StoreOpenError` when somebody has taken the log away. */
export function checkLog(path: string, found: FoundMark, log: LogState): void {
  if (found.kind === 'found' && found.mark.state !== 'closed' && log === 'removed') throw logRemoved(path, found.mark);
}

const nextSteps =
  'Nothing was changed. If the right files are elsewhere, put them back together (state.db with its own state.db-wal and ' +
  'state.hwm). Else restore a backup with `holdfast restore FILE`, or go on without what is missing with ' +
  '`holdfast restore --accept-loss`.';

function tailMissing(path: string, { commits, at }: HighWaterMark, state: string): StoreOpenError {
  return new StoreOpenError(
    'tail_missing',
    `${path} ${state}, but commit ${String(commits)} was acknowledged by ${at}: acknowledged work is missing. ${nextSteps}`,
  );
}

function logRemoved(path: string, { commits, at }: HighWaterMark): StoreOpenError {
  return new StoreOpenError(
    'tail_missing',
    `${path}-wal was removed: the last owner of the store died, and nobody can tell what of its work, acknowledged up to ` +
      `commit ${String(commits)} and later than ${at}, was in that file only. ${nextSteps}`,
  );
}

function olderFile(
  path: string,
  { commitsInFile, commits }: StoreFacts,
  { checkpointed, at }: HighWaterMark,
): StoreOpenError {
  return new StoreOpenError(
    'older_file',
    `${path} is older than its log ${path}-wal: the file ends with commit ${String(commitsInFile)}, the log begins after ` +
      `commit ${String(checkpointed)} and ends with commit ${String(commits)} (mark of ${at}): what lies between is missing, ` +
      `and together they are no store. ${nextSteps}`,
  );
}

function otherStore(path: string, facts: StoreFacts, mark: HighWaterMark): StoreOpenError {
  return new StoreOpenError(
    'other_store',
    `${path} is the store ${facts.storeId} (commit ${String(facts.commits)}), but state.hwm beside it is of the store ` +
      `${mark.storeId} (commit ${String(mark.commits)}, ${mark.at}): one of them was copied here or put back by hand. ${nextSteps}`,
  );
}
