import type Database from 'better-sqlite3';
import type { SessionQueries } from '../../../core/ports/session-queries.ts';
import { makeApprovalReads } from './approvals-table.ts';
import { makeAdmissionLists } from './admission-lists.ts';
import { AdmissionsTable } from './admissions-table.ts';
import { EventsTable } from './events-table.ts';
import { makeHistoryReads } from './history-reads.ts';
import { MessagesTable } from './messages-table.ts';
import { makeSessionLists } from './session-lists.ts';
import { SessionsTable } from './sessions-table.ts';
import { makeSnapshotReads } from './snapshot-reads.ts';
import { makeStoreCounts } from './store-counts.ts';
import type { Synchronous } from './synchronous.ts';

export type QueryReads = Synchronous<Omit<SessionQueries, 'search'>>;

/** The reads of `SessionQueries`. Each statement has a LIMIT, reads rows by their keys or reads what is open in one session. */
export function makeQueryReads(db: Database.Database): QueryReads {
  const sessions = new SessionsTable(db);
  const messages = new MessagesTable(db);
  const events = new EventsTable(db, { sessions, messages, admissions: new AdmissionsTable(db) });
  const approvals = makeApprovalReads(db);
  return {
    ...makeSessionLists(db),
    ...makeAdmissionLists(db),
    ...approvals,
    ...makeHistoryReads(db),
    ...makeSnapshotReads(db, { messages, openApprovals: approvals.openApprovals }),
    counts: makeStoreCounts(db),
    systemPrompt: (sessionId) => sessions.systemPrompt(sessionId),
    transcriptEvents: ({ sessionId, afterSeq, limit }) => events.ofTranscripts(sessionId, afterSeq, limit),
    events: ({ sessionId, afterSeq, limit }) => ({
      events: events.page(sessionId, afterSeq, limit),
      lastSeq: events.lastSeq(sessionId),
    }),
  };
}
