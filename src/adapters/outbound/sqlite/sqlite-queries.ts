import type { SessionQueries } from '../../../core/ports/session-queries.ts';
import type { ReadCall } from './reads.ts';

/** The reads that decide nothing, wherever `read` runs them. */
export function makeSqliteQueries(read: ReadCall, search: SessionQueries['search']): SessionQueries {
  return {
    listSessions: (page) => read('listSessions', page),
    findSession: (sessionId) => read('findSession', sessionId),
    listAdmissions: (page) => read('listAdmissions', page),
    systemPrompt: (sessionId) => read('systemPrompt', sessionId),
    snapshot: (page) => read('snapshot', page),
    events: (page) => read('events', page),
    history: (page) => read('history', page),
    lineage: (sessionId) => read('lineage', sessionId),
    transcriptEvents: (page) => read('transcriptEvents', page),
    messages: (of) => read('messages', of),
    search,
    counts: () => read('counts'),
    openBreakers: (page) => read('openBreakers', page),
    heldQueues: (limit) => read('heldQueues', limit),
    unknownAdmissions: (limit) => read('unknownAdmissions', limit),
    findApproval: (sessionId, approvalId) => read('findApproval', sessionId, approvalId),
    openApprovals: (page) => read('openApprovals', page),
  };
}
