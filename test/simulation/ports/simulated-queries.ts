import type { SessionQueries } from '../../../src/core/ports/session-queries.ts';
import type { CoreUnderTest } from '../core-under-test.ts';
import type { Owner, World } from '../world/world.ts';
import type { Disk } from './disk.ts';

/** Reads of one process on the durable image. Each takes effect at one moment and is answered at a later one. */
export function simulatedQueries(deps: {
  readonly world: World;
  readonly owner: Owner;
  readonly disk: Disk;
  readonly core: CoreUnderTest;
}): SessionQueries {
  const { world, owner, disk, core } = deps;
  const queries = new core.MemoryQueries(disk.durable);
  return {
    listSessions: (page) => twoEvents('list sessions', () => queries.listSessions(page)),
    findSession: (sessionId) => twoEvents(`find session ${sessionId}`, () => queries.findSession(sessionId)),
    listAdmissions: (page) => twoEvents(`list admissions ${page.sessionId}`, () => queries.listAdmissions(page)),
    systemPrompt: (sessionId) => twoEvents(`system prompt ${sessionId}`, () => queries.systemPrompt(sessionId)),
    snapshot: (page) => twoEvents(`snapshot ${page.sessionId}`, () => queries.snapshot(page)),
    events: (page) => twoEvents(`events ${page.sessionId} ${page.afterSeq}`, () => queries.events(page)),
    openBreakers: (page) => twoEvents('open breakers', () => queries.openBreakers(page)),
    history: (page) => twoEvents(`history ${page.sessionId}`, () => queries.history(page)),
    lineage: (sessionId) => twoEvents(`lineage ${sessionId}`, () => queries.lineage(sessionId)),
    transcriptEvents: (page) =>
      twoEvents(`transcript events ${page.sessionId} ${page.afterSeq}`, () => queries.transcriptEvents(page)),
    messages: (of) => twoEvents(`messages ${of.sessionId}`, () => queries.messages(of)),
    search: (query) => twoEvents('search', () => queries.search(query)),
    counts: () => twoEvents('counts', () => queries.counts()),
    findApproval: (sessionId, approvalId) =>
      twoEvents(`find approval ${approvalId}`, () => queries.findApproval(sessionId, approvalId)),
    openApprovals: (page) => twoEvents('open approvals', () => queries.openApprovals(page)),
    heldQueues: (limit) => queries.heldQueues(limit),
    unknownAdmissions: (limit) => twoEvents('unknown admissions', () => queries.unknownAdmissions(limit)),
  };

  /** `read` looks at the rows before it returns: its promise is made of what it has seen by then. */
  async function twoEvents<T>(label: string, read: () => Promise<T>): Promise<T> {
    const seen = await world.call(owner, label, () => {
      const fault = world.decisions.fault('read_fails', 3);
      if (fault !== 0) throw new core.StorageError(fault === 1 ? 'busy' : 'io', 'the read failed');
      return { page: read() };
    });
    return seen.page;
  }
}
