import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestHome } from '../support/daemon.ts';

export type DiskFault = 'no-space' | 'write-error' | 'sync-error' | 'slow-sync';

/** Compiles the shim into a folder. Null where there is no C compiler, or where LD_PRELOAD means nothing. */
export function compileShim(folder: string): string | null {
  if (process.platform !== 'linux') return null;
  const library = join(folder, 'faulty-disk.so');
  const source = join(import.meta.dirname, 'faulty-disk.c');
  const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'], { encoding: 'utf8' });
  if (compiled.error !== undefined) return null;
  if (compiled.status !== 0) throw new Error(`the shim can't be compiled: ${compiled.stderr}`);
  return library;
}

/** The disk under one home, for daemons that are started with its environment. See faulty-disk.c for what it can do. */
export class FaultyDisk {
  readonly #home: TestHome;
  readonly #library: string;
  readonly #folder: string;

  constructor(home: TestHome, library: string) {
    this.#home = home;
    this.#library = library;
    this.#folder = mkdtempSync(join(tmpdir(), 'holdfast-disk-'));
    for (const name of ['triggers', 'synced', 'next']) mkdirSync(join(this.#folder, name));
  }

  get environment(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      HOLDFAST_SHIM_FOLDER: this.#home.path,
      HOLDFAST_SHIM_TRIGGERS: join(this.#folder, 'triggers'),
      HOLDFAST_SHIM_SYNCED: join(this.#folder, 'synced'),
    };
  }

  /** From now on files whose names end with `about` have the fault; for `slow-sync` it is the milliseconds. */
  begin(fault: DiskFault, about = ''): void {
    writeFileSync(join(this.#folder, 'next', fault), about);
    renameSync(join(this.#folder, 'next', fault), this.#trigger(fault));
  }

  end(fault: DiskFault): void {
    rmSync(this.#trigger(fault));
  }

  /**
   * Puts into a home what a power cut leaves of this one: what was synced. With `keeps`, each block that was written
   * since may have reached the disk as well, and the file's length too; it says so of one block at a time.
   */
  cutPower(into: TestHome, keeps: (() => boolean) | null = null): void {
    for (const name of readdirSync(join(this.#folder, 'synced'))) {
      if (name.includes('.copying-')) continue;
      const synced = readFileSync(join(this.#folder, 'synced', name));
      const written = join(this.#home.path, name);
      const content = keeps === null || !existsSync(written) ? synced : mixed(synced, readFileSync(written), keeps);
      writeFileSync(join(into.path, name), content, { mode: 0o600 });
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #trigger(fault: DiskFault): string {
    return join(this.#folder, 'triggers', fault);
  }
}

const blockBytes = 4096;

/** Block by block the one or the other. What neither has is zero, as in a file that grew and was not written. */
function mixed(synced: Buffer, written: Buffer, keeps: () => boolean): Buffer {
  const result = Buffer.alloc(keeps() ? written.length : synced.length);
  for (let offset = 0; offset < result.length; offset += blockBytes) {
    const source = keeps() ? written : synced;
    source.subarray(offset, offset + blockBytes).copy(result, offset);
  }
  return result;
}
