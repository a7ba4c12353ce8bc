import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { unsafeFilesystemName } from '../../../src/adapters/outbound/sqlite/home-folder.ts';
import { acquireOwnerLock } from '../../../src/adapters/outbound/sqlite/owner-lock.ts';
import type { OwnerLock } from '../../../src/adapters/outbound/sqlite/owner-lock.ts';
import { temporaryHome } from './temporary-home.ts';

describe('the owner lock', () => {
  test('is held once, and free again when it is released', () => {
    const home = temporaryHome();
    const first = acquireOwnerLock(home);

    const second = acquireOwnerLock(home);
    release(first);
    const third = acquireOwnerLock(home);

    expect([first.kind, second.kind, third.kind]).toEqual(['held', 'taken', 'held']);
    expect(statSync(join(home, 'gateway.lock')).mode & 0o777).toBe(0o600);
    release(third);
  });

  test('survives an attempt of the same process to take it again', async () => {
    const home = temporaryHome();
    const lock = acquireOwnerLock(home);

    acquireOwnerLock(home);

    expect(await holderIn(home)).toMatchObject({ answer: 'taken' });
    release(lock);
  });

  test('keeps a second process out, also by another path to the same folder', async () => {
    const home = temporaryHome();
    const link = join(temporaryHome(), 'link');
    symlinkSync(home, link);

    const { answer } = await holderIn(home);

    expect(answer).toBe('held');
    expect(acquireOwnerLock(home)).toEqual({ kind: 'taken' });
    expect(acquireOwnerLock(link)).toEqual({ kind: 'taken' });
  });

  test('is free as soon as its holder was killed', async () => {
    const home = temporaryHome();
    const { child } = await holderIn(home);

    child.kill('SIGKILL');
    await once(child, 'exit');

    const lock = acquireOwnerLock(home);
    expect(lock.kind).toBe('held');
    release(lock);
  });

  test('writes nothing, so that it needs no room on a disk that is full', () => {
    const home = temporaryHome();
    const lock = acquireOwnerLock(home);

    expect(readdirSync(home)).toEqual(['gateway.lock']);
    expect(statSync(join(home, 'gateway.lock')).size).toBe(0);
    release(lock);
    expect(statSync(join(home, 'gateway.lock')).size).toBe(0);
  });

  test('is free where a holder that kept a journal beside it was killed', () => {
    const home = temporaryHome();
    copyFileSync(aJournalOfTheLock(), join(home, 'gateway.lock-journal'));
    writeFileSync(join(home, 'gateway.lock'), '');

    const first = acquireOwnerLock(home);
    const second = acquireOwnerLock(home);

    expect([first.kind, second.kind]).toEqual(['held', 'taken']);
    release(first);
  });

  test('is held once, also where the file loses the right to be written', async () => {
    const home = temporaryHome();
    const path = join(home, 'gateway.lock');
    writeFileSync(path, '', { mode: 0o400 });
    giveTo(ordinaryUser, home, path);

    const first = await holderIn(home, ordinaryUser);
    chmodSync(path, 0o400);
    const second = await holderIn(home, ordinaryUser);

    expect([first.answer, second.answer]).toEqual(['held', 'taken']);
  });

  test('is refused where it is no file, and that is left as it is', () => {
    const home = temporaryHome();
    mkdirSync(join(home, 'gateway.lock'), { mode: 0o755 });

    expect(() => acquireOwnerLock(home)).toThrow(
      expect.objectContaining({
        name: 'StoreOpenError',
        kind: 'unwritable',
        message: expect.stringContaining('it is not a file') as string,
      }),
    );
    expect(statSync(join(home, 'gateway.lock')).mode & 0o777).toBe(0o755);
  });
});

describe('the file system of a home folder', () => {
  test.each([
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [-11317950, 'CIFS'], // the same number where it is reported with a sign
    [0x01021997, '9p'],
    [0x65735546, 'FUSE'],
  ])('%i is refused as %s', (type, name) => {
    expect(unsafeFilesystemName(type, 'linux')).toBe(name);
  });

  test.each([
    ['ext4', 0xef53],
    ['tmpfs', 0x01021994],
    ['overlay', 0x794c7630],
    ['btrfs', 0x9123683e],
  ])('%s is taken', (_name, type) => {
    expect(unsafeFilesystemName(type, 'linux')).toBeNull();
  });

  test('is not judged by a number of another platform', () => {
    expect(unsafeFilesystemName(0x6969, 'darwin')).toBeNull();
  });
});

function release(lock: OwnerLock): void {
  if (lock.kind === 'held') lock.release();
}

/** What a lock that is an ordinary transaction leaves behind when its holder is killed. */
function aJournalOfTheLock(): string {
  const path = join(temporaryHome(), 'gateway.lock');
  const db = new Database(path);
  db.exec('BEGIN EXCLUSIVE');
  onTestFinished(() => void db.close());
  return `${path}-journal`;
}

/** Somebody whom rights stop, which they don't root. */
const ordinaryUser = process.getuid?.() === 0 ? 1000 : undefined;

function giveTo(uid: number | undefined, ...paths: readonly string[]): void {
  if (uid !== undefined) for (const path of paths) chownSync(path, uid, uid);
}

/** Another process that tries to take the lock; it is ended with the test. */
async function holderIn(
  home: string,
  uid?: number,
): Promise<{ readonly child: ChildProcess; readonly answer: string }> {
  const script = fileURLToPath(new URL('./lock-holder.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, home], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, answer: chunk.toString().trim() };
}
