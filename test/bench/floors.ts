import { randomUUID } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { v7 as uuidv7 } from 'uuid';
import { migrate } from '../../src/adapters/outbound/sqlite/migrations.ts';
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

/**
 * Prompts per second that a bare better-sqlite3 loop commits, in transactions of `batch`: the two rows of a prompt in
 * the gateway's own schema, with its pragmas, and nothing else.
 */
export function measureBareLoop(
  { batch, sessions }: { readonly batch: number; readonly sessions: number },
  text: string,
  durationMs: number,
): number {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const db = new Database(join(folder, 'bare.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma('wal_autocheckpoint = 1000');
  migrate(db);
  const session = db.prepare(
    `INSERT INTO sessions (id, root_session_id, source, model, provider, started_at, principal_id, toolsets)
     VALUES (?, ?, 'bench', 'm', 'p', 'now', 'local', '[]')`,
  );
  const ids = Array.from({ length: sessions }, () => uuidv7());
  for (const id of ids) session.run(id, id);
  const admission = db.prepare(
    `INSERT INTO session_admissions (seq, admission_id, request_id, target_session_id, principal_id, position, revision,
       status, delivery, boundary, step, requeue_count, accepted_at, request_digest, payload_digest, payload)
     VALUES (?, ?, ?, ?, 'local', ?, 1, 'queued', 'queue', 'none', 0, 0, 'now', ?, ?, ?)`,
  );
  const event = db.prepare(
    `INSERT INTO session_events (session_id, seq, type, at, epoch, admission_id, payload)
     VALUES (?, ?, 'admission.queued', 'now', 1, ?, '{"admission":{}}')`,
  );
  const digest = 'd'.repeat(64);
  const payload = JSON.stringify({ text, parts: null });
  let count = 0;
  const commit = db.transaction(() => {
    for (let index = 0; index < batch; index += 1) {
      count += 1;
      const id = uuidv7();
      const sessionId = ids[count % ids.length];
      admission.run(count, id, randomUUID(), sessionId, count, digest, digest, payload);
      event.run(sessionId, count, id);
    }
  });
  const startedAt = performance.now();
  while (performance.now() - startedAt < durationMs) commit.immediate();
  const rate = perSecond(count, performance.now() - startedAt);
  db.close();
  rmSync(folder, { recursive: true, force: true });
  return rate;
}
