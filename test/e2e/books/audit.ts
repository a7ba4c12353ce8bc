/*
 * Compares a client's books with the store and with what the model server saw. It knows the promises and nothing of the
 * program. Each finding is a sentence; a sound gateway has none.
 *
 * Some rules hold at any instant, also in the file of a process that was just killed. Others hold at rest only, when
 * the client has finished and nothing runs.
 */
import type { BookedPrompt, BookedSession, Books } from './books.ts';
import { retryBase } from './books.ts';
import { auditEvents } from './audit-events.ts';
import { auditLife } from './audit-life.ts';
import { auditTools, auditToolsAtRest } from './audit-tools.ts';
import { asksForTool, expectedAnswer, readPromptText } from './prompt-text.ts';
import type { AdmissionRow, MessageRow, Rows } from './rows.ts';
import { sessionOfTag } from './witness.ts';
import type { SeenRequest, Witness } from './witness.ts';

export interface Audited {
  readonly books: Books;
  readonly rows: Rows;
  readonly witness: Pick<Witness, 'requests' | 'faults'>;
  /** What the tool has written: a line for each time that it ran. */
  readonly journal?: readonly string[];
}

/** What must hold at any instant. */
export function audit({ books, rows, witness, journal = [] }: Audited): readonly string[] {
  const findings: string[] = [...books.breaches, ...witness.faults];
  for (const session of books.sessions.values()) {
    if (session.id === null) continue;
    const own = rows.admissions.filter(({ target_session_id }) => target_session_id === session.id);
    findings.push(
      ...auditPromises(session, own),
      ...auditMoves(session, own),
      ...auditRequests(session, own, witness.requests),
      ...auditLife(session, own, rows),
      ...(session.deletion === 'none' ? auditTools(session, own, rows, journal) : []),
      ...auditEvents(session, rows),
    );
  }
  return [...findings, ...auditSessions(books, rows)];
}

/** The same, and what must hold when everything has ended. */
export function auditAtRest(audited: Audited): readonly string[] {
  const { books, rows } = audited;
  const findings = [...audit(audited)];
  const unsettled = rows.admissions.filter(({ status }) => status !== 'terminal');
  findings.push(...unsettled.map((row) => `${row.request_id} is still ${row.status}`));
  for (const prompt of books.prompts) {
    if (prompt.outcome === null) findings.push(`nobody heard what became of ${prompt.inputId}`);
  }
  findings.push(
    ...rows.compressions.filter(({ status }) => status === 'started').map(() => 'a compression is left open'),
  );
  return [...findings, ...auditAnswers(rows), ...auditLineage(rows), ...auditToolsAtRest(rows)];
}

/** Every promise is in the store, and the store has nothing that was never asked for. */
function auditPromises(session: BookedSession, own: readonly AdmissionRow[]): readonly string[] {
  const findings: string[] = [];
  const byId = new Map(own.map((row) => [row.request_id, row]));
  if (byId.size !== own.length) findings.push(`${session.name} has two admissions of one input id`);
  for (const prompt of session.prompts.values()) {
    const row = byId.get(prompt.inputId);
    const name = `${session.name}/${prompt.inputId}`;
    if (prompt.admissionId === null) continue;
    if (row === undefined) findings.push(`${name} was acknowledged and is lost`);
    else findings.push(...auditPrompt(name, prompt, row));
  }
  for (const row of own) {
    const prompt = session.prompts.get(row.request_id);
    if (prompt === undefined && !wasRetried(session, row.request_id)) {
      findings.push(`${session.name} holds ${row.request_id}, which nobody asked for`);
    }
  }
  return findings;
}

function wasRetried(session: BookedSession, inputId: string): boolean {
  const base = session.prompts.get(retryBase(inputId));
  return inputId.includes('~') && (base === undefined ? wasRetried(session, retryBase(inputId)) : base.retryAsked);
}

function auditPrompt(name: string, prompt: BookedPrompt, row: AdmissionRow): readonly string[] {
  const findings: string[] = [];
  const check = (condition: boolean, finding: string): void => {
    if (!condition) findings.push(`${name} ${finding}`);
  };
  check(row.admission_id === prompt.admissionId, `has another admission id than it was told`);
  check(row.seq === prompt.sequence, `has another sequence number than it was told`);
  const texts = textsOf(prompt).map((text) => JSON.stringify(text).slice(1, -1));
  check(row.payload === null || texts.some((text) => row.payload?.includes(text)), 'has another text');
  if (prompt.outcome !== null) {
    check(
      row.outcome === prompt.outcome,
      `was told to be ${prompt.outcome} and is ${String(row.outcome ?? row.status)}`,
    );
  }
  if (prompt.stopAcknowledged) {
    check(row.stop_requested_by !== null || row.status === 'queued', 'had its stop acknowledged, and it is lost');
    check(
      row.outcome !== 'completed' && row.outcome !== 'failed',
      `had its stop acknowledged and is ${String(row.outcome)}`,
    );
  }
  if (prompt.resolveAcknowledged !== null) {
    const action = row.resolution === null ? null : (JSON.parse(row.resolution) as { action: string }).action;
    check(
      action === prompt.resolveAcknowledged,
      `was resolved with ${prompt.resolveAcknowledged} and has ${String(action)}`,
    );
    check(
      (row.retried_by !== null) === (action === 'retry'),
      `has ${String(row.retried_by)} as its retry after ${String(action)}`,
    );
  }
  check(row.resolution === null || prompt.discardAsked || prompt.retryAsked, 'was resolved by nobody');
  check(
    row.stop_requested_by === null || row.stop_requested_by !== 'local' || prompt.stopAsked,
    'was stopped by nobody',
  );
  return findings;
}

/** What a prompt may say now: what an acknowledged edit gave it, else what it began with or what an edit asked for. */
function textsOf({ text, edit }: BookedPrompt): readonly string[] {
  if (edit === null) return [text];
  return edit.acknowledged ? [edit.text] : [text, edit.text];
}

/** A prompt that was moved, and is told so, stands before the others. */
function auditMoves(session: BookedSession, own: readonly AdmissionRow[]): readonly string[] {
  const positions = new Map(own.map(({ request_id, position }) => [request_id, position]));
  return [...session.prompts.values()].flatMap(({ inputId, move }) => {
    if (move?.acknowledged !== true) return [];
    const isFirst = move.before.every((other) => (positions.get(inputId) ?? 0) < (positions.get(other) ?? 0));
    return isFirst ? [] : [`${session.name}/${inputId} was moved and stands where it was`];
  });
}

/** No request of one admission goes out twice, and they go out in the order of the queue. */
function auditRequests(
  session: BookedSession,
  own: readonly AdmissionRow[],
  seen: readonly SeenRequest[],
): readonly string[] {
  const findings: string[] = [];
  const requests = seen.filter(({ tag }) => sessionOfTag(tag) === session.name);
  const inOrder = own.toSorted((a, b) => a.position - b.position);
  const tagOf = (row: AdmissionRow): string => `${session.name}.${row.request_id.split('~')[0] ?? ''}`;
  const started = new Map<string, number>();
  for (const row of own) {
    if (row.boundary !== 'none') started.set(tagOf(row), (started.get(tagOf(row)) ?? 0) + 1);
  }
  const sent = new Map<string, number>();
  for (const { tag, step, refused } of requests) {
    const key = `${tag} step ${String(step)}${refused ? ' (refused)' : ''}`;
    sent.set(key, (sent.get(key) ?? 0) + 1);
    const allowed = started.get(tag) ?? 0;
    if ((sent.get(key) ?? 0) > allowed) {
      findings.push(
        `${key} was sent ${String(sent.get(key))} times, and ${String(allowed)} of its turns may have sent anything`,
      );
    }
  }
  const order = requests.filter(({ step }) => step === 1).map(({ tag }) => tag);
  const turns = order.filter((tag, index) => tag !== order[index - 1]);
  if (!isSubsequence(turns, inOrder.map(tagOf))) {
    findings.push(`${session.name} ran out of order: ${turns.join(' ')}`);
  }
  return findings;
}

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const item of part) {
    at = whole.indexOf(item, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** A created session stays, each once, and a hold that was acknowledged too. */
function auditSessions(books: Books, rows: Rows): readonly string[] {
  const findings: string[] = [];
  for (const { name, id, hold, title, deletion } of books.sessions.values()) {
    const found = rows.sessions.filter(({ request_id }) => request_id === name);
    if (found.length > 1) findings.push(`${name} was made twice`);
    const root = rows.sessions.find((row) => row.id === id);
    if (id !== null && root === undefined) findings.push(`${name} was acknowledged and is lost`);
    if (root === undefined) continue;
    const isDeleted = root.deleted_at !== null;
    if (deletion === 'acknowledged' && !isDeleted) findings.push(`the deletion of ${name} is lost`);
    if (deletion === 'none' && isDeleted) findings.push(`${name} was deleted by nobody`);
    const titles = title?.acknowledged === true ? [title.text] : [title?.text ?? null, null];
    if (!isDeleted && !titles.includes(root.title)) findings.push(`${name} has the title ${String(root.title)}`);
    if (hold === 'held' && root.hold_reason === null) findings.push(`the hold of ${name} is lost`);
    // An outage holds a queue without being asked.
    const isHeld = root.hold_reason !== null && root.hold_by !== 'gateway';
    if (hold === 'none' && isHeld) findings.push(`the release of ${name} is lost`);
  }
  return findings;
}

/** A completed prompt and its answer are stored once, word for word, whatever was compressed since. */
function auditAnswers({ sessions, admissions, messages }: Rows): readonly string[] {
  const originals = new Map<string, MessageRow[]>();
  for (const message of messages) {
    if (message.admission_id === null || message.id !== message.origin_id) continue;
    const own = originals.get(message.admission_id);
    if (own === undefined) originals.set(message.admission_id, [message]);
    else own.push(message);
  }
  const deleted = new Set(sessions.filter(({ deleted_at }) => deleted_at !== null).map(({ id }) => id));
  return admissions.flatMap((row) => {
    if (deleted.has(row.target_session_id)) return [];
    if (row.merged_into !== null) return auditSteer(row, messages);
    const own = originals.get(row.admission_id) ?? [];
    const prompts = own.filter(({ kind }) => kind === 'prompt');
    const answers = own.filter(({ kind, partial }) => kind === 'answer' && partial === 0);
    const prompt = readPromptText(prompts[0]?.content ?? '');
    if (prompts.length > 1) return [`the prompt of ${row.request_id} is stored ${String(prompts.length)} times`];
    if (row.outcome !== 'completed') return [];
    if (prompt === null) return [`${row.request_id} is completed without a prompt`];
    const isWhole = answers.at(-1)?.content === expectedAnswer(prompt);
    const isOnce = answers.length === (asksForTool(prompt.wish) ? 2 : 1);
    return isWhole && isOnce
      ? []
      : [`the answer of ${row.request_id} is not what the model said: ${String(answers.length)} answers`];
  });
}

/** The text of a steer is in its turn once. */
function auditSteer(
  { request_id, payload, merged_into }: AdmissionRow,
  messages: readonly MessageRow[],
): readonly string[] {
  const stored = messages.filter(
    ({ id, origin_id, kind, admission_id, content }) =>
      id === origin_id && kind === 'steer' && admission_id === merged_into && payload?.includes(content) === true,
  );
  return stored.length === 1 ? [] : [`the text of ${request_id} is in its turn ${String(stored.length)} times`];
}

/** One chain for each session: each closed transcript has its one child, and the last one is open. */
function auditLineage({ sessions, messages, compressions }: Rows): readonly string[] {
  const findings: string[] = [];
  for (const root of sessions.filter(({ id, root_session_id }) => id === root_session_id)) {
    if (root.deleted_at !== null) continue;
    const chain = sessions.filter(({ root_session_id }) => root_session_id === root.id);
    for (const [index, transcript] of chain.entries()) {
      const isTip = index === chain.length - 1;
      const follows = transcript.parent_session_id === (chain[index - 1]?.id ?? null);
      const closed = transcript.ended_at !== null && transcript.end_reason === 'compression';
      const open = transcript.ended_at === null && transcript.end_reason === null;
      if (!follows || (isTip ? !open : !closed))
        findings.push(`the lineage of ${String(root.request_id)} is broken at ${String(index)}`);
      const summaries = messages.filter(
        (m) => m.session_id === transcript.id && m.kind === 'summary' && m.active === 1,
      );
      if (summaries.length > 1)
        findings.push(`${String(root.request_id)} has ${String(summaries.length)} summaries at once`);
    }
    const rotations = compressions.filter(
      ({ session_id, status, child_transcript, parent_transcript }) =>
        session_id === root.id && status === 'completed' && child_transcript !== parent_transcript,
    );
    if (rotations.length !== chain.length - 1)
      findings.push(
        `${String(root.request_id)} has ${String(chain.length)} transcripts after ${String(rotations.length)} compressions`,
      );
  }
  return findings;
}
