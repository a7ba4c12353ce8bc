/* P4, P5 and P13 on the calls that wait for somebody's answer. */
import { isOwner, logOf } from './books.ts';
import type { Books } from './books.ts';
import type { Asked, Heard, ResponseView } from './calls.ts';
import type { EventRow, ProcessView } from './rows.ts';

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
  const rows = store.approvals(sessionId);
  const isDeleted = store.session(sessionId)?.deleted === true;
  for (const [index, { type, callId = '', approvalId = '', decision, by }] of events.entries()) {
    if (type === 'approval.requested') {
      open.set(approvalId, callId);
      verdict.hold(open.size <= limits.maxOpenApprovals, 'P13', () => `${open.size} calls wait in ${sessionId}`);
    }
    if (type === 'approval.resolved') {
      verdict.hold(open.delete(approvalId), 'P5', () => `${approvalId} was decided, and it was not open`);
      const stored = rows.find((row) => row.approvalId === approvalId)?.resolution;
      const isStored = isDeleted || (stored?.decision === decision && stored?.by === by);
      verdict.hold(isStored, 'P1', () => `${approvalId} is ${decision} by ${by}, and ${stored?.decision} is stored`);
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
  const stored = rows.filter(({ resolution }) => resolution === null);
  const same = stored.map((row) => row.approvalId).join() === [...open.keys()].join();
  verdict.hold(same, 'P1', () => `${stored.length} requests are stored as open, and the log has ${open.size}`);
  return open;
}

const endsWaiting = new Set(['turn.settled', 'turn.lost', 'turn.resolved', 'admission.requeued']);

export type Responded = Asked & { readonly approvalId: string; readonly answer: string };

/**
 * The first answer is the one that is stored; everybody else hears of it. The log says what that was: an answer that was
 * right when it was looked up may arrive after the session's deletion.
 */
export function judgeResponse(books: Books, process: ProcessView, asked: Responded, heard: Heard<ResponseView>): void {
  const { verdict } = books;
  const { approvalId, answer, principalId } = asked;
  const events = logOf(books, asked.sessionId).filter((event) => event.approvalId === approvalId);
  const resolved = events.find(({ type }) => type === 'approval.resolved');
  const wanted = answer === 'approve' ? 'approved' : 'denied';
  const isTheirs = resolved?.decision === wanted && resolved.by === principalId;
  const said = `${answer} of ${approvalId} by ${principalId}, which is ${resolved?.decision}`;
  if (heard.kind === 'done') {
    verdict.hold(isTheirs, 'P1', () => `${said}, was acknowledged`);
  } else if (heard.kind === 'refused' && isOwner(books, process)) {
    const { reason, approval } = heard.refusal;
    const told = approval?.resolution.decision;
    const isLate = events.length > 0 && resolved === undefined && told === 'expired';
    const isRight = reason === 'not_found' ? events.length === 0 : told === resolved?.decision || isLate;
    verdict.hold(isRight && !isTheirs, 'P5', () => `${said}, was refused as ${reason} ${told}`);
  }
}
