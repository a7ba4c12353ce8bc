import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { TestHome } from '../../support/daemon.ts';

/** The public tables as an auditor reads them: straight from the file, beside a daemon or after its death. */
export interface Rows {
  readonly sessions: readonly SessionRow[];
  readonly admissions: readonly AdmissionRow[];
  readonly messages: readonly MessageRow[];
  readonly events: readonly EventRow[];
  readonly compressions: readonly CompressionRow[];
  readonly toolCalls: readonly ToolCallRow[];
  readonly approvals: readonly ApprovalRow[];
}

interface SessionRow {
  readonly id: string;
  readonly root_session_id: string;
  readonly parent_session_id: string | null;
  readonly request_id: string | null;
  readonly ended_at: string | null;
  readonly end_reason: string | null;
  readonly hold_reason: string | null;
  readonly hold_by: string | null;
  readonly title: string | null;
  readonly deleted_at: string | null;
}

export interface AdmissionRow {
  readonly seq: number;
  readonly admission_id: string;
  readonly request_id: string;
  readonly target_session_id: string;
  readonly position: number;
  readonly status: string;
  readonly outcome: string | null;
  readonly failure: string | null;
  readonly boundary: string;
  readonly stop_requested_by: string | null;
  readonly retried_by: string | null;
  readonly resolution: string | null;
  readonly payload: string | null;
  readonly merged_into: string | null;
}

export interface MessageRow {
  readonly id: number;
  readonly session_id: string;
  readonly kind: string;
  readonly active: number;
  readonly origin_id: number;
  readonly admission_id: string | null;
  readonly partial: number;
  readonly content: string;
}

export interface EventRow {
  readonly session_id: string;
  readonly seq: number;
  readonly type: string;
  readonly admission_id: string | null;
}

interface CompressionRow {
  readonly id: string;
  readonly trigger: string;
  readonly session_id: string;
  readonly parent_transcript: string;
  readonly child_transcript: string | null;
  readonly status: string;
}

/** A call that was started; there is no row for one that was only asked for. */
export interface ToolCallRow {
  readonly call_id: string;
  readonly session_id: string;
  readonly admission_id: string;
  readonly status: string;
}

export interface ApprovalRow {
  readonly approval_id: string;
  readonly session_id: string;
  readonly admission_id: string;
  readonly call_id: string;
  readonly decision: string | null;
  readonly decided_by: string | null;
}

/** Everything of one instant. Nothing where no start has got as far as to make the store. */
export function readRows(home: Pick<TestHome, 'database'>): Rows {
  if (!existsSync(home.database)) return noRows;
  const db = new Database(home.database, { readonly: true });
  try {
    db.exec('BEGIN');
    if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sessions'").get() === undefined) return noRows;
    const all = <T>(sql: string): readonly T[] => db.prepare(sql).all() as T[]; // the public columns of the schema
    return {
      sessions: all('SELECT * FROM sessions ORDER BY number'),
      admissions: all('SELECT * FROM session_admissions ORDER BY seq'),
      messages: all('SELECT * FROM messages ORDER BY id'),
      events: all('SELECT session_id, seq, type, admission_id FROM session_events ORDER BY session_id, seq'),
      compressions: all('SELECT * FROM compressions ORDER BY rowid'),
      toolCalls: all('SELECT * FROM tool_calls ORDER BY id'),
      approvals: all('SELECT * FROM approvals ORDER BY number'),
    };
  } finally {
    db.close();
  }
}

const noRows: Rows = {
  sessions: [],
  admissions: [],
  messages: [],
  events: [],
  compressions: [],
  toolCalls: [],
  approvals: [],
};
