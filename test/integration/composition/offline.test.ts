import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/adapters/outbound/sqlite/open-store.ts';
import { backUpHome, restoreHome } from '../../../src/composition/offline.ts';
import { restore } from '../../../src/main.ts';

describe('a backup without a gateway', () => {
  test('may go into a folder of the home, and not into the home itself', async () => {
    const home = aHomeWithStore();
    mkdirSync(join(home, 'backups'));

    const below = await backUpHome(home, join(home, 'backups', 'monday.db'));
    const inside = await backUpHome(home, join(home, 'monday.db'));

    expect(below).toMatchObject({ kind: 'done', value: { path: join(home, 'backups', 'monday.db') } });
    expect(inside).toMatchObject({ kind: 'failed', exitCode: 2, reason: 'usage' });
  });

  test('says that there is no store only where there is none', async () => {
    const home = aFolder();
    const loop = join(aFolder(), 'loop');
    symlinkSync(loop, loop);

    expect(await backUpHome(home, join(aFolder(), 'x.db'))).toMatchObject({ exitCode: 74, reason: 'no_store' });
    expect(await backUpHome(loop, join(aFolder(), 'x.db'))).toMatchObject({
      exitCode: 74,
      reason: 'unwritable',
      message: expect.stringContaining(`${loop} can't be looked into: ELOOP`) as string,
    });
    expect(readdirSync(home)).toEqual([]);
  });

  test('of what is no store ends with 74 and names it', async () => {
    const home = aFolder();
    const store = join(home, 'state.db');
    writeFileSync(store, 'These are notes. '.repeat(1_000));

    const ended = await backUpHome(home, join(aFolder(), 'x.db'));

    expect(ended).toMatchObject({
      exitCode: 74,
      reason: 'not_a_database',
      message: expect.stringContaining(store) as string,
    });
  });

  test('into a folder that can’t be looked into is refused as a wrong path', async () => {
    const loop = join(aFolder(), 'loop');
    symlinkSync(loop, loop);

    const ended = await backUpHome(aHomeWithStore(), join(loop, 'x.db'));

    expect(ended).toMatchObject({
      exitCode: 2,
      reason: 'usage',
      message: expect.stringContaining('must be in a folder that can be used (ELOOP') as string,
    });
  });
});

describe('a restore', () => {
  test.each([
    ['is no database', (backup: string) => writeFileSync(backup, 'These are notes. '.repeat(1_000))],
    ['is a folder', (backup: string) => mkdirSync(backup)],
    ['is not there', () => undefined],
  ])('of a backup that %s speaks of that one, and gives no advice for a store', async (_, make) => {
    const home = aHomeWithStore();
    const backup = join(aFolder(), 'monday.db');
    make(backup);

    const ended = await restoreHome(home, backup);

    expect(ended).toMatchObject({ kind: 'failed', exitCode: 74 });
    const { message } = ended as { readonly message: string }; // it failed
    expect(message).toContain(backup);
    expect(message).not.toMatch(/start empty|--home|holdfast restore FILE/);
  });

  test('that meets a mark which can’t be read names the mark', async () => {
    const home = aHomeWithStore();
    const backup = join(aFolder(), 'monday.db');
    await backUpHome(home, backup);
    rmSync(join(home, 'state.hwm'));
    mkdirSync(join(home, 'state.hwm'));

    const ended = await restoreHome(home, backup);

    expect(ended).toMatchObject({
      reason: 'not_a_file',
      message: expect.stringContaining(join(home, 'state.hwm')) as string,
    });
  });

  test('makes no home folder: a name that was mistyped is told', async () => {
    const backup = join(aFolder(), 'monday.db');
    await backUpHome(aHomeWithStore(), backup);
    const mistyped = join(aFolder(), 'hmoe');
    const mask = process.umask();
    onTestFinished(() => void process.umask(mask));

    await expect(restore({ home: mistyped, file: backup })).rejects.toThrow(
      `${mistyped}: the home folder isn't there; if it is the one that is meant, make it first`,
    );

    expect(existsSync(mistyped)).toBe(false);
  });
});

function aHomeWithStore(): string {
  const home = aFolder();
  openStore({ home, newStoreId: 'store-1' }).db.close();
  return home;
}

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-offline-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
