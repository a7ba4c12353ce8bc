/* What a client does about tool calls that wait for an approval, with its books. */
import type { WireEvent } from '../../support/raw-client.ts';
import type { Bookkeeper } from './bookkeeper.ts';
import type { BookedApproval, BookedPrompt, BookedSession } from './books.ts';

export type ApprovalAnswer = NonNullable<BookedApproval['answer']>;

/** Hears of the next request that the books don't have yet, and books it. */
export async function nextApproval(client: Bookkeeper, session: BookedSession): Promise<BookedApproval> {
  return book(session, await nextRequest(client, session));
}

/** Gives an answer, for the first time or again. The first answer stands for ever, and so does whatever else was decided. */
export async function respond(
  client: Bookkeeper,
  session: BookedSession,
  approval: BookedApproval,
  answer: ApprovalAnswer,
): Promise<void> {
  const { approvalId, decision: known } = approval;
  approval.answer ??= answer;
  const outcome = await client.ask('approval.respond', { session_id: session.id, approval_id: approvalId, answer });
  if ('refused' in outcome) {
    client.books.hold(outcome.refused === 'approval_closed', `${approval.callId} was refused as ${outcome.refused}`);
    const decision = decisionOf(outcome.data);
    client.books.hold(
      decision !== decisionBy(answer),
      `${approval.callId} is ${String(decision)}, and refuses ${answer}`,
    );
    hear(client, approval, decision);
    return;
  }
  const decision = decisionOf(outcome.result);
  client.books.hold(decision === decisionBy(answer), `${approval.callId} took ${answer} and is ${String(decision)}`);
  client.books.hold(known === null || outcome.result['duplicate'] === true, `${approval.callId} took an answer twice`);
  hear(client, approval, decision);
}

/** Every answer once more, and one for each request that nobody has answered: it is too late for that. */
export async function respondAgain(client: Bookkeeper, session: BookedSession): Promise<void> {
  for (const approval of session.approvals.values()) {
    const first = approval.answer ?? 'approve';
    await respond(client, session, approval, first);
    await respond(client, session, approval, first);
    await respond(client, session, approval, first === 'approve' ? 'deny' : 'approve');
  }
}

/** Waits until the prompt has ended or its fate is unknown, and approves whatever it asks for meanwhile. */
export async function settledWithApprovals(
  client: Bookkeeper,
  session: BookedSession,
  prompt: BookedPrompt,
): Promise<BookedPrompt> {
  const settled = client.settled(session, prompt);
  for (;;) {
    const request = nextRequest(client, session);
    request.catch(() => undefined); // nothing asks any more
    const first = await Promise.race([settled, request]);
    if ('inputId' in first) return first;
    await respond(client, session, book(session, first), 'approve');
  }
}

/** Nothing waits for an answer once every turn has ended. */
export async function expectNothingWaits(client: Bookkeeper, session: BookedSession): Promise<void> {
  const answer = await client.ask('approval.list', { session_id: session.id });
  if ('refused' in answer) throw new Error(`the approvals of ${session.name} were refused as ${answer.refused}`);
  const waiting = answer.result['approvals'] as readonly unknown[]; // as the protocol says
  client.books.hold(waiting.length === 0, `${String(waiting.length)} calls of ${session.name} wait for ever`);
}

function nextRequest(client: Bookkeeper, session: BookedSession): Promise<WireEvent> {
  return client.event(
    session,
    ({ type, payload }) => type === 'approval.requested' && !session.approvals.has(String(payload?.['approval_id'])),
  );
}

function book({ approvals }: BookedSession, { payload }: WireEvent): BookedApproval {
  const approvalId = String(payload?.['approval_id']);
  const approval: BookedApproval = { approvalId, callId: String(payload?.['call_id']), answer: null, decision: null };
  approvals.set(approvalId, approval);
  return approval;
}

function hear({ books }: Bookkeeper, approval: BookedApproval, decision: string | null): void {
  const { callId, decision: known } = approval;
  books.hold(known === null || known === decision, `${callId} was ${String(known)} and is ${String(decision)}`);
  approval.decision ??= decision;
}

function decisionBy(answer: ApprovalAnswer): string {
  return answer === 'approve' ? 'approved' : 'denied';
}

function decisionOf(data: Readonly<Record<string, unknown>>): string | null {
  const resolution = data['resolution'] as { readonly decision: string } | undefined; // as the protocol says
  return resolution?.decision ?? null;
}
