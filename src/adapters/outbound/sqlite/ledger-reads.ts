import type Database from 'better-sqlite3';
import type { Ledger } from '../../../core/ports/ledger.ts';
import { AdmissionsTable } from './admissions-table.ts';
import { ApprovalsTable } from './approvals-table.ts';
import { CompressionsTable } from './compressions-table.ts';
import { LearntWindowsTable } from './learnt-windows-table.ts';
import { MessagesTable } from './messages-table.ts';
import { SessionsTable } from './sessions-table.ts';
import { ToolCallsTable } from './tool-calls-table.ts';
import type { Synchronous } from './synchronous.ts';

export type LedgerReads = Synchronous<Omit<Ledger, 'takeOwnership' | 'append'>>;

/**
 * Open admissions come from an index that holds no others, and open compressions and holds that end by themselves too:
 * the cost depends on what is unfinished and not on what the store has seen.
 */
export const unfinishedSql = `
  SELECT session_id FROM (
    SELECT target_session_id AS session_id, min(seq) AS oldest
      FROM session_admissions WHERE status <> 'terminal' GROUP BY target_session_id
    UNION ALL
    SELECT session_id, NULL FROM compressions WHERE status = 'started'
    UNION ALL
    SELECT id, NULL FROM sessions WHERE hold_until IS NOT NULL
  )
  GROUP BY session_id
  ORDER BY min(oldest) NULLS LAST`;

/** The reads of the ledger's port. None of them reads a settled admission unless it is asked for by its id. */
export function makeLedgerReads(db: Database.Database): LedgerReads {
  const sessions = new SessionsTable(db);
  const messages = new MessagesTable(db);
  const admissions = new AdmissionsTable(db);
  const toolCalls = new ToolCallsTable(db);
  const approvals = new ApprovalsTable(db);
  const compressions = new CompressionsTable(db);
  const learntWindows = new LearntWindowsTable(db);
  const unfinished = db.prepare<[], string>(unfinishedSql).pluck();
  return {
    load(sessionId) {
      const head = sessions.head(sessionId);
      if (head === null) return null;
      return {
        ...head,
        messages: messages.metas(head.lineage.tipId),
        open: admissions.open(sessionId),
        runningCalls: toolCalls.running(sessionId),
        approvals: approvals.open(sessionId),
      };
    },
    sessionOf: (transcriptId) => sessions.rootOf(transcriptId),
    findCreated: (key) => sessions.created(key),
    findAdmission: (sessionId, key) => admissions.byKey(sessionId, key),
    readPayload: (admissionId) => admissions.payloadOf(admissionId),
    readTranscript: (transcriptId, afterId) => messages.after(transcriptId, afterId),
    unfinished: () => unfinished.all(),
    learntWindows: () => learntWindows.all(),
    findCompression: (key) => compressions.byRequest(key),
  };
}
