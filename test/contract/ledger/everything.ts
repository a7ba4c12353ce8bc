import type { OpenedLedger } from './harness.ts';
import { aPrincipal } from '../../support/builders.ts';

/** All that can be read of some sessions, to be compared before and after something that must change nothing. */
export async function everythingOf({ ledger, queries }: OpenedLedger, sessionIds: readonly string[]): Promise<unknown> {
  const sessions = sessionIds.map(async (sessionId) => ({
    state: await ledger.load(sessionId),
    events: await queries.events({ sessionId, afterSeq: 0, limit: 1_000 }),
    admissions: await queries.listAdmissions({ sessionId, include: 'all', limit: 1_000, after: null }),
    summary: await queries.findSession(sessionId),
    transcript: await ledger.readTranscript((await ledger.load(sessionId))?.lineage.tipId ?? sessionId, 0),
  }));
  return {
    sessions: await Promise.all(sessions),
    list: await queries.listSessions({ principalId: aPrincipal, archived: null, limit: 1_000, before: null }),
    counts: await queries.counts(),
    unfinished: await ledger.unfinished(),
  };
}
