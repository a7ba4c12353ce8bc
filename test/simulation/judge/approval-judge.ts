/* P4, P5 and P13 on the calls that wait for somebody's answer. */
import type { Books } from './books.ts';
import type { EventRow } from './rows.ts';

/**
 * What the log leaves open. A request is closed once; a call doesn't start while it waits, nor after an answer that
 * doesn't allow it; and nothing waits in a turn that is to stop, or has no process any more.
 */
export function judgeApprovals(
  { verdict, store, limits, openApprovals }: Books,
  sessionId: string,
  events: readonly EventRow[],
): ReadonlyMap<string, string> {
  const open = new Map(openApprovals.get(sessionId));
  openApprovals.set(sessionId, open);
  for (const [index, { type, callId = '', approvalId = '', decision }] of events.entries()) {
    if (type === 'approval.requested') {
      open.set(approvalId, callId);
      verdict.hold(open.size <= limits.maxOpenApprovals, 'P13', () => `${open.size} calls wait in ${sessionId}`);
    }
    if (type === 'approval.resolved') {
      verdict.hold(open.delete(approvalId), 'P5', () => `${approvalId} was decided, and it was not open`);
      const next = events[index + 1];
      const starts = next?.type === 'tool.started' && next.callId === callId;
      verdict.hold(starts === (decision === 'approved'), 'P4', () => `${approvalId} is ${decision}, and ${callId}…`);
    }
    if (type === 'tool.started') {
      const waits = [...open.values()].includes(callId);
      verdict.hold(!waits, 'P4', () => `the call ${callId} was started while it waited`);
    }
    if (endsWaiting.has(type)) {
      verdict.hold(open.size === 0, 'P5', () => `${[...open.keys()].join()} waited for nothing after ${type}`);
    }
  }
  const stored = store.approvals(sessionId).filter(({ resolution }) => resolution === null);
  const same = stored.map((row) => row.approvalId).join() === [...open.keys()].join();
  verdict.hold(same, 'P1', () => `${stored.length} requests are stored as open, and the log has ${open.size}`);
  return open;
}

const endsWaiting = new Set(['turn.settled', 'turn.lost', 'turn.resolved', 'admission.requeued']);
