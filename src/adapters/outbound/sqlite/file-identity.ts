import { statSync } from 'node:fs';
import { StorageError } from '../../../core/ports/ledger.ts';

/**
 * Notices that the database or its log was removed or replaced while it is open: what is written then would reach a
 * file that nobody will ever find, or mix two stores.
 */
export class FileIdentity {
  readonly #paths: readonly string[];
  readonly #identities: readonly string[];

  /** Call it when the files exist, that is after the first transaction. */
  constructor(path: string) {
    this.#paths = [path, `${path}-wal`];
    this.#identities = this.#paths.map(identityOf);
  }

  assertSame(): void {
    for (const [index, path] of this.#paths.entries()) {
      if (identityOf(path) === this.#identities[index]) continue;
      throw new StorageError(
        'io',
        `${path} was removed or replaced while it was in use. Stop Holdfast, then put it back.`,
      );
    }
  }
}

function identityOf(path: string): string {
  const file = statSync(path, { throwIfNoEntry: false });
  return file === undefined ? 'missing' : `${String(file.dev)}:${String(file.ino)}`;
}
