import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readOrCreateToken } from '../../../src/config/token.ts';
import { createFileAtomically } from '../../../src/config/write-file-atomically.ts';
import { temporaryHome } from './temporary-home.ts';

describe("the home's token", () => {
  test('is made once: 32 random bytes that only the owner may read', () => {
    const home = temporaryHome();

    const token = readOrCreateToken(home);

    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(statSync(join(home, 'token')).mode & 0o777).toBe(0o600);
    expect(readdirSync(home)).toEqual(['token']);
  });

  test('stays the same at every later start', () => {
    const home = temporaryHome();

    expect(readOrCreateToken(home)).toBe(readOrCreateToken(home));
  });

  test('differs from home to home', () => {
    expect(readOrCreateToken(temporaryHome())).not.toBe(readOrCreateToken(temporaryHome()));
  });

  test('is closed to others when somebody opened it', () => {
    const home = temporaryHome();
    const token = readOrCreateToken(home);
    chmodSync(join(home, 'token'), 0o644);

    expect(readOrCreateToken(home)).toBe(token);
    expect(statSync(join(home, 'token')).mode & 0o777).toBe(0o600);
  });

  test.each(['', 'short', 'with spaces and more than thirty-two characters'])(
    'is refused and kept when the file holds something else: %j',
    (content) => {
      const home = temporaryHome();
      writeFileSync(join(home, 'token'), content);

      expect(() => readOrCreateToken(home)).toThrow('is no token');
      expect(readFileSync(join(home, 'token'), 'utf8')).toBe(content);
    },
  );

  test('is refused by its own name where a folder or a link to nothing is in its place', () => {
    const withFolder = temporaryHome();
    mkdirSync(join(withFolder, 'token'));
    const withLink = temporaryHome();
    symlinkSync(join(withLink, 'nowhere'), join(withLink, 'token'));

    expect(() => readOrCreateToken(withFolder)).toThrow(`${join(withFolder, 'token')}: is a folder and not a file`);
    expect(() => readOrCreateToken(withLink)).toThrow(
      `${join(withLink, 'token')}: is a link to a file that is not there`,
    );
  });

  test('of whoever was first is the one that counts', () => {
    const home = temporaryHome();
    const file = join(home, 'token');

    expect(createFileAtomically(file, 'first')).toBe(true);
    expect(createFileAtomically(file, 'second')).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('first');
  });
});
