/* What must hold at any instant of a session that was deleted, forked, or compressed by hand. */
import type { BookedSession } from './books.ts';
import type { AdmissionRow, Rows } from './rows.ts';

export function auditLife(session: BookedSession, own: readonly AdmissionRow[], rows: Rows): readonly string[] {
  const transcripts = rows.sessions.filter(({ root_session_id }) => root_session_id === session.id);
  const ids = new Set(transcripts.map(({ id }) => id));
  const messages = rows.messages.filter(({ session_id }) => ids.has(session_id));
  const root = transcripts.find(({ id }) => id === session.id);
  if (root === undefined) return [];
  if (root.deleted_at !== null) {
    const payloads = own.filter(({ payload }) => payload !== null);
    if (messages.length === 0 && payloads.length === 0) return [];
    return [`the deleted ${session.name} has ${String(messages.length)} messages, ${String(payloads.length)} prompts`];
  }
  return [...auditFork(session, rows), ...auditByHand(session, rows)];
}

/** A fork has its origin's messages up to the cut, as rows of its own. */
function auditFork({ name, id, forkOf }: BookedSession, { messages, sessions }: Rows): readonly string[] {
  if (forkOf === null) return [];
  const root = sessions.find(({ request_id }) => request_id === forkOf.name);
  const origin = root?.id;
  const expected = messages.filter((row) => row.session_id === origin && row.id <= forkOf.messageId);
  const taken = messages.filter((row) => row.session_id === id && row.admission_id === null);
  // What the origin was, nobody can read any more; what was taken from it stays.
  if (root?.deleted_at !== null) return taken.length > 0 ? [] : [`the messages of ${name} went with ${forkOf.name}`];
  const contentOf = (all: typeof messages): string => JSON.stringify(all.map(({ kind, content }) => [kind, content]));
  return contentOf(taken) === contentOf(expected) ? [] : [`${name} is no true fork of ${forkOf.name}`];
}

/** The old transcript is there, or the whole new one: never a part of it. */
function auditByHand({ name, id, compressions }: BookedSession, rows: Rows): readonly string[] {
  if (compressions.size === 0) return [];
  const findings: string[] = [];
  const own = rows.compressions.filter(({ session_id }) => session_id === id);
  const transcripts = rows.sessions.filter(({ root_session_id }) => root_session_id === id);
  const tip = transcripts.find(({ ended_at }) => ended_at === null)?.id;
  const active = rows.messages.filter(({ session_id, active: isActive }) => session_id === tip && isActive === 1);
  const all = rows.messages.filter(({ session_id }) => transcripts.some((transcript) => transcript.id === session_id));
  const summaries = active.filter(({ kind }) => kind === 'summary').length;
  const completed = own.filter(({ status }) => status === 'completed').length;
  if (summaries !== Math.min(completed, 1)) {
    findings.push(`${name} has ${String(summaries)} summaries after ${String(completed)} compressions`);
  }
  const isOld = completed === 0 && all.length === active.length && transcripts.length === 1;
  if (completed === 0 && !isOld) findings.push(`${name} is half compressed`);
  const origins = active.filter(({ kind }) => kind !== 'summary').map(({ origin_id }) => origin_id);
  if (origins.some((origin, index) => origin <= (origins[index - 1] ?? 0))) findings.push(`${name} is out of order`);
  const newest = Math.max(...all.filter(({ kind }) => kind !== 'summary').map(({ origin_id }) => origin_id));
  if (origins.at(-1) !== newest) findings.push(`the newest message of ${name} is not in its transcript`);
  for (const [requestId, heard] of compressions) {
    const isTold =
      heard === null ||
      heard.compressionId === null ||
      own.some((row) => row.id === heard.compressionId && row.status === 'completed');
    if (!isTold) findings.push(`${name} was told that ${requestId} was made, and it is lost`);
  }
  if (own.filter(({ trigger }) => trigger === 'manual').length > compressions.size) {
    findings.push(`${name} was compressed more often than somebody asked for it`);
  }
  return findings;
}
