import { execFile } from 'node:child_process';
import { accessSync, constants, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly bin: { readonly holdfast: string };
};
const command = join(root, manifest.bin.holdfast);

/* npm links the command once, whenever `npx holdfast` is first called, and never looks again. */
describe('the command of a checkout', () => {
  it('is there before a build and stays what it is after one: an executable file outside of the built ones', () => {
    expect(manifest.bin.holdfast).not.toMatch(/^(?:\.\/)?dist\//);
    expect(statSync(command).isFile()).toBe(true);
    expect(() => accessSync(command, constants.X_OK)).not.toThrow();
  });

  it('runs what is built', async () => {
    expect(await run(command)).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  it('says what to do where nothing is built', async () => {
    const checkout = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
    onTestFinished(() => {
      rmSync(checkout, { recursive: true });
    });
    mkdirSync(join(checkout, 'scripts'));
    const copy = join(checkout, manifest.bin.holdfast);
    copyFileSync(command, copy);
    copyFileSync(join(root, 'package.json'), join(checkout, 'package.json'));

    const { code, stderr } = await run(copy);

    expect(code).toBe(1);
    expect(stderr).toContain('npm run build');
  });
});

function run(file: string): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(file, ['--version'], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}
