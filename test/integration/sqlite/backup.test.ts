import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ServedStorage } from '../../../src/adapters/outbound/sqlite/sqlite-storage.ts';
import { findDamage } from '../../../src/adapters/outbound/sqlite/verify-store.ts';
import { openWorkerStorage } from '../../../src/adapters/outbound/sqlite/worker-storage.ts';
import type { StorageError } from '../../../src/core/ports/ledger.ts';
import { zeroFirstLeafOf } from './damage.ts';
import { WorkingStore, commitsIn } from './killed-store.ts';
import { creation, firstPrompt, ownerOf } from './prompts.ts';
import { temporaryHome } from './temporary-home.ts';

describe('a backup', () => {
  test('while prompts arrive has every one that was acknowledged before, and is sound', async () => {
    const { storage } = await aServedStore();
    const load = new Load(storage, await ownerOf(storage.ledger));
    await load.reaches(20);
    const target = join(temporaryHome(), 'backup.db');

    const before = load.acknowledged;
    const outcome = await storage.backups.backUp(target);
    await load.reaches(load.acknowledged + 5); // it goes on
    await load.stop();

    const backup = new Database(target, { readonly: true });
    const prompts = backup.prepare<[], number>('SELECT count(*) FROM session_admissions').pluck().get() ?? 0;
    const commits = commitsIn(backup);
    expect(backup.pragma('journal_mode', { simple: true })).toBe('delete');
    backup.close();
    expect(prompts).toBeGreaterThanOrEqual(before);
    expect(outcome).toEqual({
      kind: 'done',
      backup: { path: target, bytes: statSync(target).size, storeId: 'store-1', epoch: 1, commits },
    });
    expect(findDamage(target, 'integrity_check')).toEqual([]);
  });

  test('is one file, for its owner only, whatever the umask is', async () => {
    const { storage } = await aServedStore();
    const folder = temporaryHome();
    const umask = process.umask(0);
    try {
      await storage.backups.backUp(join(folder, 'backup.db'));
    } finally {
      process.umask(umask);
    }

    expect(readdirSync(folder)).toEqual(['backup.db']);
    expect(statSync(join(folder, 'backup.db')).mode & 0o777).toBe(0o600);
  });

  test('has what is only in the log too', async () => {
    const store = new WorkingStore();
    store.keepInLog();
    await store.work(10);
    const storage = await openWorkerStorage({ home: store.killed(), newStoreId: 'another' });
    onTestFinished(() => storage.close());
    const target = join(temporaryHome(), 'backup.db');

    expect(await storage.backups.backUp(target)).toMatchObject({ kind: 'done', backup: { commits: 21 } });
  });
});

describe('a backup is refused, and nothing is left behind or changed,', () => {
  test('where a file is', async () => {
    const { storage } = await aServedStore();
    const folder = temporaryHome();
    writeFileSync(join(folder, 'backup.db'), 'precious');

    const outcome = await storage.backups.backUp(join(folder, 'backup.db'));

    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/exists already/) as string });
    expect(readdirSync(folder)).toEqual(['backup.db']);
    expect(readFileSync(join(folder, 'backup.db'), 'utf8')).toBe('precious');
  });

  test('where no folder is', async () => {
    const { storage } = await aServedStore();

    const outcome = await storage.backups.backUp(join(temporaryHome(), 'none', 'backup.db'));

    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/can't be written/) as string });
  });

  test('where a file is in the place of the folder', async () => {
    const { storage } = await aServedStore();
    const folder = join(temporaryHome(), 'folder');
    writeFileSync(folder, 'precious');

    const outcome = await storage.backups.backUp(join(folder, 'backup.db'));

    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/ENOTDIR/) as string });
  });

  test('while another is being written', async () => {
    const { storage } = await aServedStore();
    const folder = temporaryHome();

    const outcomes = await Promise.all([
      storage.backups.backUp(join(folder, 'one.db')),
      storage.backups.backUp(join(folder, 'two.db')),
    ]);

    expect(outcomes).toMatchObject([
      { kind: 'done' },
      { kind: 'failed', reason: expect.stringMatching(/Another backup/) as string },
    ]);
    expect(readdirSync(folder)).toEqual(['one.db']);
  });

  test('when the store is closed meanwhile', async () => {
    const { storage } = await aServedStore();
    const folder = temporaryHome();

    const backup = storage.backups.backUp(join(folder, 'backup.db'));
    await storage.close();

    expect(await backup).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/broken off/) as string });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('when the store is damaged, which stops the store too', async () => {
    const { home, storage: first } = await aServedStore();
    const load = new Load(first, await ownerOf(first.ledger));
    await load.reaches(40);
    await load.stop();
    await first.close();
    zeroFirstLeafOf(home, 'session_events');
    const failures: StorageError[] = [];
    const storage = await openWorkerStorage({ home, newStoreId: 'x', onFailure: (error) => failures.push(error) });
    onTestFinished(() => storage.close());
    const folder = temporaryHome();

    const outcome = await storage.backups.backUp(join(folder, 'backup.db'));

    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/store is damaged/) as string });
    expect(failures).toMatchObject([{ kind: 'corrupt' }]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

async function aServedStore(): Promise<{ readonly home: string; readonly storage: ServedStorage }> {
  const home = temporaryHome();
  const storage = await openWorkerStorage({ home, newStoreId: 'store-1' });
  onTestFinished(() => storage.close().catch(() => undefined)); // some tests have closed it
  return { home, storage };
}

/** Prompts that arrive one after the other, until it is stopped. */
class Load {
  acknowledged = 0;
  #stopped = false;
  readonly #running: Promise<void>;
  #waiting: (() => void)[] = [];

  constructor({ ledger }: ServedStorage, epoch: number) {
    const run = async (): Promise<void> => {
      for (let n = 1; !this.#stopped; n += 1) {
        await ledger.append(creation(`session-${String(n)}`, epoch));
        await ledger.append(firstPrompt(`session-${String(n)}`, epoch, n, 'x'.repeat(300)));
        this.acknowledged = n;
        for (const wake of this.#waiting.splice(0)) wake();
      }
    };
    this.#running = run();
    this.#running.catch(() => undefined); // the store was closed
    onTestFinished(() => this.stop());
  }

  async reaches(count: number): Promise<void> {
    while (this.acknowledged < count) {
      await Promise.race([this.#running, new Promise<void>((resolve) => this.#waiting.push(resolve))]);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running.catch(() => undefined);
  }
}
