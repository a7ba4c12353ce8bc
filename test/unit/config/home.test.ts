import { chmodSync, existsSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { environmentOf } from '../../../src/config/environment.ts';
import { openExistingHome, openHome, resolveHome } from '../../../src/config/home.ts';
import { temporaryHome } from './temporary-home.ts';

const initialMask = process.umask();
afterEach(() => {
  process.umask(initialMask);
  vi.restoreAllMocks();
});

describe('the home folder', () => {
  test('is the one of --home, else of HOLDFAST_HOME, else of the platform', () => {
    const environment = environmentOf({ HOLDFAST_HOME: 'from-environment' });

    expect(resolveHome('from-flag', environment)).toBe(resolve('from-flag'));
    expect(resolveHome(undefined, environment)).toBe(resolve('from-environment'));
    expect(resolveHome(undefined, environmentOf({ HOLDFAST_HOME: '' }))).toMatch(/holdfast(\/Data|\\Data)?$/);
  });

  test('is created for its owner only, with the folders above it, whatever the mask was', () => {
    process.umask(0);
    const home = join(temporaryHome(), 'a/b');

    openHome(home);

    expect(modeOf(home)).toBe(0o700);
  });

  test('makes every later file private', () => {
    process.umask(0);
    const home = temporaryHome();

    openHome(home);
    writeFileSync(join(home, 'state.db'), '');

    expect(modeOf(join(home, 'state.db'))).toBe(0o600);
  });

  test.each([
    ['is empty', []],
    ["is the gateway's", ['config.yaml', 'notes.txt']],
  ])('is closed to others when it was open and %s', (_, names) => {
    const home = temporaryHome();
    for (const name of names) writeFileSync(join(home, name), '');
    chmodSync(home, 0o755);

    openHome(home);

    expect(modeOf(home)).toBe(0o700);
  });

  test('that holds other things and is open to others is refused and left as it is', () => {
    const home = temporaryHome();
    mkdirSync(join(home, 'projects'));
    writeFileSync(join(home, '.env'), '');
    chmodSync(home, 0o755);

    expect(() => openHome(home)).toThrow(
      `${home}: the home folder holds other things and is open to other users (mode 755)`,
    );
    expect(modeOf(home)).toBe(0o755);
  });

  test('may be begun with an .env alone, as the example says', () => {
    const home = temporaryHome();
    writeFileSync(join(home, '.env'), '');
    chmodSync(home, 0o755);

    openHome(home);

    expect(modeOf(home)).toBe(0o700);
  });

  test('may be a link to a folder', () => {
    const home = temporaryHome();
    const link = join(temporaryHome(), 'link');
    symlinkSync(home, link);

    openHome(link);

    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  test('is refused when it is a link to nothing', () => {
    const link = join(temporaryHome(), 'link');
    symlinkSync(join(temporaryHome(), 'nowhere'), link);

    expect(() => openHome(link)).toThrow(`${link}: the home folder is a link to a folder that is not there`);
  });

  test('that has to be there already is not created', () => {
    const home = join(temporaryHome(), 'hmoe');

    expect(() => openExistingHome(home)).toThrow(`${home}: the home folder isn't there`);
    expect(existsSync(home)).toBe(false);
    mkdirSync(home, { mode: 0o755 });
    openExistingHome(home);
    expect(modeOf(home)).toBe(0o700);
  });

  test('is refused when it is a file', () => {
    const file = join(temporaryHome(), 'file');
    writeFileSync(file, '');

    expect(() => openHome(file)).toThrow('the home folder is a file and not a folder');
    expect(() => openHome(join(file, 'below'))).toThrow("the home folder can't be created");
  });

  test.skipIf(process.getuid === undefined)("is refused when it is another user's", () => {
    const home = temporaryHome();
    vi.spyOn(process, 'getuid').mockReturnValue(4242);

    expect(() => openHome(home)).toThrow('belongs to another user');
    expect(existsSync(home)).toBe(true);
  });
});

function modeOf(file: string): number {
  return statSync(file).mode & 0o777;
}
