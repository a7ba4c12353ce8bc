import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { percentile, perSecond } from './statistics.ts';

/** The median time of appending 4 KiB to a file and syncing it, in milliseconds. */
export function measureFsync(times = 200): number {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const file = openSync(join(folder, 'fsync'), 'w');
  const block = Buffer.alloc(4096, 1);
  const samples: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const startedAt = performance.now();
    writeSync(file, block);
    fdatasyncSync(file);
    samples.push(performance.now() - startedAt);
  }
  closeSync(file);
  rmSync(folder, { recursive: true, force: true });
  return percentile(samples, 0.5);
}

/** Rows per second that a bare loop commits in transactions of `batch`, with the gateway's own pragmas. */
export function measureBareLoop(batch: number, text: string, durationMs: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const db = new Database(join(folder, 'bare.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma('wal_autocheckpoint = 1000');
  db.exec('CREATE TABLE rows (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, payload TEXT NOT NULL)');
  const insert = db.prepare('INSERT INTO rows (id, payload) VALUES (?, ?)');
  let count = 0;
  const commit = db.transaction(() => {
    for (let index = 0; index < batch; index += 1) {
      count += 1;
      insert.run(`input-${String(count)}`, text);
    }
  });
  const startedAt = performance.now();
  while (performance.now() - startedAt < durationMs) commit.immediate();
  const rate = perSecond(count, performance.now() - startedAt);
  db.close();
  rmSync(folder, { recursive: true, force: true });
  return rate;
}
