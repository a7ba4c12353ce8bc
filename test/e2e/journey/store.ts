import Database from 'better-sqlite3';
import type { TestHome } from '../../support/daemon.ts';

/** The public tables, read as an operator would read them: straight from the file. */
export interface StoreRows {
  readonly sessions: readonly SessionRow[];
  readonly admissions: readonly AdmissionRow[];
  readonly messages: readonly MessageRow[];
  readonly events: readonly { readonly session_id: string; readonly seq: number; readonly type: string }[];
  readonly compressions: readonly CompressionRow[];
  readonly epoch: number;
}

interface SessionRow {
  readonly id: string;
  readonly root_session_id: string;
  readonly parent_session_id: string | null;
  readonly ended_at: string | null;
  readonly end_reason: string | null;
  readonly message_count: number;
}

export interface AdmissionRow {
  readonly seq: number;
  readonly admission_id: string;
  readonly request_id: string;
  readonly target_session_id: string;
  readonly position: number;
  readonly status: string;
  readonly outcome: string | null;
  readonly owner_epoch: number | null;
  readonly execution_generation: number | null;
  readonly boundary: string;
  readonly requeue_count: number;
  readonly request_digest: string;
  readonly payload_digest: string;
}

interface MessageRow {
  readonly id: number;
  readonly session_id: string;
  readonly role: string;
  readonly content: string;
  readonly active: number;
  readonly origin_id: number;
  readonly kind: string;
}

interface CompressionRow {
  readonly id: string;
  readonly session_id: string;
  readonly parent_transcript: string;
  readonly child_transcript: string | null;
  readonly trigger: string;
  readonly status: string;
  readonly tokens_before: number;
  readonly tokens_after: number | null;
}

/** Reads everything in one transaction. It may be called while the daemon runs. */
export function readStore(home: TestHome): StoreRows {
  const db = new Database(home.database, { readonly: true });
  try {
    db.exec('BEGIN');
    const all = <T>(sql: string): readonly T[] => db.prepare(sql).all() as T[]; // the public columns of the schema
    return {
      sessions: all('SELECT * FROM sessions ORDER BY rowid'),
      admissions: all('SELECT * FROM session_admissions ORDER BY seq'),
      messages: all('SELECT * FROM messages ORDER BY id'),
      events: all('SELECT session_id, seq, type FROM session_events ORDER BY session_id, seq'),
      compressions: all('SELECT * FROM compressions ORDER BY rowid'),
      epoch: all<{ epoch: number }>('SELECT epoch FROM runtime_epoch')[0]?.epoch ?? 0,
    };
  } finally {
    db.close();
  }
}
