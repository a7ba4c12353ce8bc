import Database from 'better-sqlite3';
import { EpochTable } from './epoch-table.ts';
import { MarkFile, markPath, readMark } from './high-water-mark.ts';
import { closeBesideLog } from './hold-log.ts';
import { prepareHomeFolder } from './home-folder.ts';
import { inspectStore } from './inspect-store.ts';
import { migrate } from './migrations.ts';
import { openError } from './open-errors.ts';
import { setReaderPragmas, setWriterPragmas } from './pragmas.ts';
import type { Synchronous } from './pragmas.ts';
import { checkFiles, createFile, storePath } from './store-files.ts';
import { StoreOpenError } from './store-open-error.ts';
import { checkLog, checkTail } from './tail-check.ts';
import type { StoreFacts, TailVerdict } from './tail-check.ts';
import { findDamage } from './verify-store.ts';
import { logStateOf } from './write-ahead-log.ts';
import type { LogState } from './write-ahead-log.ts';

export interface OpenStoreOptions {
  /** The folder that holds `state.db`. */
  readonly home: string;
  /** The id that the store gets if it is created now, or if nobody can say what is missing from it. */
  readonly newStoreId: string;
  readonly synchronous?: Synchronous;
  readonly busyTimeoutMs?: number;
  readonly allowUnsafeFilesystem?: boolean;
}

export interface OpenedStore {
  readonly db: Database.Database;
  readonly path: string;
  readonly storeId: string;
  readonly mark: MarkFile;
  readonly opening: Opening;
}

/** How a store was found. */
export interface Opening {
  /**
   * How its last owner left it. `unclean`: it died, so that a look for damage is due, which takes time. `none`: it is
   * new, or it has just been looked at.
   */
  readonly lastStop: 'clean' | 'unclean' | 'none';
  /** What an operator should know of. */
  readonly warnings: readonly string[];
}

/**
 * Opens the store of a home folder for writing, and creates it where there is none. Everything that can be wrong with
 * it is a `StoreOpenError`, found in constant time, except after damage was met: then all of it is checked first. What
 * is damaged or incomplete stays as it is: nothing is overwritten or deleted.
 */
export function openStore(options: OpenStoreOptions): OpenedStore {
  const { home, newStoreId, synchronous = 'full', busyTimeoutMs = 0, allowUnsafeFilesystem = false } = options;
  prepareHomeFolder(home, { allowUnsafeFilesystem });
  const path = storePath(home);
  return openingErrors(path, () => {
    const judged = judgeStore(home, { use: 'write', busyTimeoutMs });
    createFile(path);
    const db = new Database(path, { timeout: busyTimeoutMs });
    try {
      setWriterPragmas(db, { path, synchronous, busyTimeoutMs });
      migrate(db);
      const epoch = new EpochTable(db);
      epoch.create(newStoreId);
      if (judged.verdict.kind === 'unmarked') {
        epoch.renew(newStoreId, epoch.current());
        db.pragma('wal_checkpoint(PASSIVE)'); // the mark may not know of what a power cut could take away
      }
      return {
        db,
        path,
        storeId: epoch.storeId(),
        mark: beginMark(home, epoch, judged),
        opening: openingOf(home, judged.verdict),
      };
    } catch (error) {
      closeBesideLog(db, path);
      throw error;
    }
  });
}

/** What is in a home folder, if it may be served, or copied. Changes nothing but the modes of files. */
export function judgeStore(
  home: string,
  { use, busyTimeoutMs }: { readonly use: 'read' | 'write'; readonly busyTimeoutMs: number },
): { readonly facts: StoreFacts | null; readonly log: LogState; readonly verdict: TailVerdict } {
  const path = storePath(home);
  return openingErrors(path, () => {
    const file = checkFiles(home, use);
    const found = readMark(markPath(home));
    const log = logStateOf(path);
    checkLog(path, found, log);
    const facts = file === null || file.size === 0 ? null : inspectStore(path, { busyTimeoutMs });
    const verdict = checkTail(path, { facts, found, log });
    const isDoubtful = verdict.kind === 'unproven' || (verdict.kind === 'intact' && verdict.mark.state === 'suspect');
    if (isDoubtful) requireUndamaged(path);
    return { facts, log, verdict };
  });
}

/** Looks at all of a store. */
export function requireUndamaged(path: string): void {
  const [damage] = findDamage(path, 'integrity_check');
  if (damage === undefined) return;
  throw new StoreOpenError(
    'damaged',
    `${path} is damaged: ${damage}. Nothing was changed. Restore a backup with \`holdfast restore FILE\`.`,
  );
}

/** Before anything is written: whoever dies from now on has not closed the store. */
function beginMark(home: string, epoch: EpochTable, { facts, log, verdict }: ReturnType<typeof judgeStore>): MarkFile {
  const path = markPath(home);
  const now = {
    storeId: epoch.storeId(),
    epoch: epoch.current(),
    at: new Date().toISOString(),
    state: 'open',
  } as const;
  if (verdict.kind === 'new' || verdict.kind === 'unmarked') {
    return MarkFile.create(path, { ...now, commits: epoch.commits(), checkpointed: facts?.commitsInFile ?? 0 });
  }
  const file = MarkFile.continue(path);
  // Without a log all that the store has is in the file, and on the disk.
  const all = log === 'present' ? verdict.mark : { commits: epoch.commits(), checkpointed: epoch.commits() };
  const { commits, checkpointed } = all;
  file.writeNow({ ...now, at: verdict.mark.at, commits, checkpointed });
  return file;
}

function openingOf(home: string, verdict: TailVerdict): Opening {
  switch (verdict.kind) {
    case 'new':
      return { lastStop: 'none', warnings: [] };
    case 'intact': {
      const lastStop = { closed: 'clean', open: 'unclean', suspect: 'none' } as const;
      return { lastStop: lastStop[verdict.mark.state], warnings: [] };
    }
    case 'unproven':
      return {
        lastStop: 'none',
        warnings: [
          'The last owner of the store died, and its log has gone since, as it does when another program has opened the ' +
            'database. Everything was checked, and nothing is missing.',
        ],
      };
    case 'unmarked': {
      const what = verdict.unreadable ? 'could not be read' : 'was missing';
      return {
        lastStop: 'unclean',
        warnings: [
          `${markPath(home)} ${what}: nobody can tell whether acknowledged work is missing from the store. It was made anew, ` +
            'and the store has a new id, so that clients take fresh snapshots.',
        ],
      };
    }
  }
}

/** A second connection, for reads only, to a store that `openStore` has opened. */
export function openStoreForReading(options: {
  readonly home: string;
  readonly busyTimeoutMs?: number;
}): Database.Database {
  const path = storePath(options.home);
  const busyTimeoutMs = options.busyTimeoutMs ?? 0;
  return openingErrors(path, () => {
    const db = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    try {
      setReaderPragmas(db, { path, busyTimeoutMs });
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

function openingErrors<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw openError(path, error);
  }
}
