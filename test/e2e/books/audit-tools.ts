/* What must hold of the tool calls of a session, and of the approvals that they wait for. */
import type { BookedApproval, BookedSession } from './books.ts';
import type { AdmissionRow, ApprovalRow, Rows, ToolCallRow } from './rows.ts';

/** At any instant. `journal` has a line, the tag of the prompt, for each time that the tool ran. */
export function auditTools(
  session: BookedSession,
  own: readonly AdmissionRow[],
  rows: Rows,
  journal: readonly string[],
): readonly string[] {
  const isOwn = ({ admission_id }: { readonly admission_id: string }): boolean =>
    own.some((row) => row.admission_id === admission_id);
  const calls = rows.toolCalls.filter(isOwn);
  const approvals = rows.approvals.filter(isOwn);
  return [
    ...own.flatMap((row) => auditBoundary(row, calls)),
    ...[...session.prompts.keys()].flatMap((inputId) =>
      auditRuns(`${session.name}.${inputId}`, callsOf(inputId, own, calls), journal),
    ),
    ...approvals.flatMap((row) => auditApproval(row, session, calls)),
    ...[...session.approvals.values()].flatMap((booked) => auditPromise(booked, approvals)),
    ...auditTold(session, rows, calls, approvals),
  ];
}

/** When everything has ended: nothing runs, and nothing waits. */
export function auditToolsAtRest({ toolCalls, approvals }: Rows): readonly string[] {
  return [
    ...toolCalls.filter(({ status }) => status === 'started').map(({ call_id }) => `${call_id} runs for ever`),
    ...approvals.filter(({ decision }) => decision === null).map(({ call_id }) => `${call_id} waits for ever`),
  ];
}

/** A turn is past the boundary of the tools when one of its calls was started, and only then. */
function auditBoundary(
  { request_id, admission_id, boundary }: AdmissionRow,
  calls: readonly ToolCallRow[],
): readonly string[] {
  const started = calls.filter((call) => call.admission_id === admission_id).length;
  return (boundary === 'tool') === started > 0
    ? []
    : [`${request_id} is at the boundary ${boundary} with ${String(started)} calls`];
}

/** The calls of a prompt, and of its retries. */
function callsOf(inputId: string, own: readonly AdmissionRow[], calls: readonly ToolCallRow[]): readonly ToolCallRow[] {
  const turns = own.filter(({ request_id }) => request_id.split('~')[0] === inputId);
  return calls.filter(({ admission_id }) => turns.some((row) => row.admission_id === admission_id));
}

/** A tool runs at most once for each intent in the store, and has run for each answer in it. */
function auditRuns(tag: string, started: readonly ToolCallRow[], journal: readonly string[]): readonly string[] {
  const answered = started.filter(({ status }) => status === 'answered').length;
  const runs = journal.filter((line) => line === tag).length;
  const findings: string[] = [];
  if (runs > started.length)
    findings.push(`the tool ran ${String(runs)} times for ${tag}, and ${String(started.length)} calls were started`);
  if (runs < answered) findings.push(`the tool ran ${String(runs)} times for ${tag} and answered ${String(answered)}`);
  return findings;
}

/** A call is started when it was approved and only then, and whatever was answered was answered by somebody. */
function auditApproval(
  { approval_id, admission_id, call_id, decision, decided_by }: ApprovalRow,
  { approvals }: BookedSession,
  calls: readonly ToolCallRow[],
): readonly string[] {
  const findings: string[] = [];
  const started = calls.filter((call) => call.admission_id === admission_id && call.call_id === call_id).length;
  if (started !== (decision === 'approved' ? 1 : 0))
    findings.push(`${call_id} is ${decision ?? 'open'} and was started ${String(started)} times`);
  const answer = approvals.get(approval_id)?.answer ?? null;
  const isAnswered = decision === 'approved' || decision === 'denied';
  if (isAnswered && answer !== (decision === 'approved' ? 'approve' : 'deny'))
    findings.push(`${call_id} is ${decision}, and its client said ${String(answer)}`);
  const deciders: readonly (string | null)[] =
    decision === null ? [null] : isAnswered ? ['local'] : ['local', 'gateway'];
  if (!deciders.includes(decided_by)) findings.push(`${call_id} is ${String(decision)} by ${String(decided_by)}`);
  return findings;
}

/** What was heard of is stored, and what was told to be decided is decided so. */
function auditPromise(
  { approvalId, callId, decision }: BookedApproval,
  rows: readonly ApprovalRow[],
): readonly string[] {
  const row = rows.find(({ approval_id }) => approval_id === approvalId);
  if (row === undefined) return [`the request for ${callId} was told and is lost`];
  if (decision === null || row.decision === decision) return [];
  return [`${callId} was told to be ${decision} and is ${row.decision ?? 'open'}`];
}

/** The log tells of each request, each decision and each start once. */
function auditTold(
  { id, name }: BookedSession,
  { events }: Rows,
  calls: readonly ToolCallRow[],
  approvals: readonly ApprovalRow[],
): readonly string[] {
  const expected = {
    'tool.started': calls.length,
    'approval.requested': approvals.length,
    'approval.resolved': approvals.filter(({ decision }) => decision !== null).length,
  };
  return Object.entries(expected).flatMap(([type, count]) => {
    const told = events.filter((event) => event.session_id === id && event.type === type).length;
    return told === count ? [] : [`${name} has ${String(told)} events ${type} in place of ${String(count)}`];
  });
}
