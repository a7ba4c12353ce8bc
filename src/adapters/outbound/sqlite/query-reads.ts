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
import { makeStoreCounts } from './store-counts.ts';
import type { Synchronous } from './synchronous.ts';

export type QueryReads = Synchronous<Omit<SessionQueries, 'search'>>;

/** The reads of `SessionQueries`. Each statement has a LIMIT or reads rows by their keys. */
export function makeQueryReads(db: Database.Database): QueryReads {
  const sessions = new SessionsTable(db);
  const messages = new MessagesTable(db);
  const events = new EventsTable(db, { sessions, messages, admissions: new AdmissionsTable(db) });
  return {
    ...makeSessionLists(db),
    ...makeAdmissionLists(db),
    ...makeApprovalReads(db),
    ...makeHistoryReads(db),
    counts: makeStoreCounts(db),
    messagesBefore({ transcriptId, before, limit }) {
      const newestFirst = messages.before(transcriptId, before ?? Number.MAX_SAFE_INTEGER, limit + 1);
      return { messages: newestFirst.slice(0, limit).reverse(), more: newestFirst.length > limit };
    },
    transcriptEvents: ({ sessionId, afterSeq, limit }) => events.ofTranscripts(sessionId, afterSeq, limit),
    events: ({ sessionId, afterSeq, limit }) => ({
      events: events.after(sessionId, afterSeq, { limit, content: true }),
      lastSeq: events.lastSeq(sessionId),
    }),
  };
}
