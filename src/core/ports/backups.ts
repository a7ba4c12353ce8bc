/** Copies of the store, made while it is in use. */
export interface Backups {
  /**
   * Writes a copy to a file that doesn't exist yet, checks it, and only then gives it its name. Everything that was
   * acknowledged before the call is in it. Appends and reads go on meanwhile. One copy is made at a time.
   */
  backUp(path: string): Promise<BackupOutcome>;
}

export type BackupOutcome =
  | { readonly kind: 'done'; readonly backup: Backup }
  /** There is no file of that name, and the store is as it was. The reason is a sentence for an operator. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface Backup {
  readonly path: string;
  readonly bytes: number;
  readonly storeId: string;
  readonly epoch: number;
  /** The newest commit in it. */
  readonly commits: number;
}
