/* What a fork takes over: the origin's transcript at the cut, with pairs whole, and nothing else. */
import { isOwner, logOf, wasOnce } from './books.ts';
import type { Books } from './books.ts';
import type { Asked, Heard } from './calls.ts';
import type { MessageRow, ProcessView } from './rows.ts';

type Message = MessageRow['message'];
export type Forked = Asked & { readonly messageId: number };

export function judgeForked(
  books: Books,
  process: ProcessView,
  asked: Forked,
  heard: Heard<{ readonly sessionId: string; readonly created: boolean }>,
): void {
  const { verdict } = books;
  if (heard.kind === 'refused' && heard.refusal.reason === 'not_found') {
    const isMissing = wasOnce(books, asked, ({ deleted }) => deleted) || !hadMessage(books, asked);
    verdict.hold(isMissing || !isOwner(books, process), 'fork', () => `message ${asked.messageId} was not found`);
  }
  if (heard.kind !== 'done') return;
  const { sessionId, created } = heard.reply;
  const taken = firstMessages(books, sessionId).map(contentOf);
  // What the cut brings with it may grow while the fork is made; a repeat is answered with what was made before.
  const candidates = transcriptsAt(books, asked.sessionId, asked.messageId, created ? asked.sinceSeq : 0);
  const isRight = candidates.some((candidate) => candidate.map(contentOf).join() === taken.join());
  verdict.hold(
    isRight,
    'fork',
    () => `the fork at ${asked.messageId} of ${asked.sessionId} has [${taken.join(' ')}] and no cut of it has`,
  );
  const { forkedFrom = null } = logOf(books, sessionId)[0]?.profile ?? {};
  verdict.hold(forkedFrom?.sessionId === asked.sessionId, 'fork', () => `${sessionId} names ${forkedFrom?.sessionId}`);
}

function hadMessage({ versions }: Books, { sessionId, messageId, sinceSeq }: Forked): boolean {
  return [...(versions.get(sessionId) ?? [])].some(
    ([seq, { activeIds }]) => seq <= sinceSeq && activeIds.includes(messageId),
  );
}

/** The messages with which a session began. */
function firstMessages(books: Books, sessionId: string): readonly Message[] {
  const [, ...rest] = logOf(books, sessionId);
  const end = rest.findIndex(({ type, admissionId }) => type !== 'message.appended' || admissionId !== null);
  const own = end < 0 ? rest : rest.slice(0, end);
  return own.flatMap(({ message }) => books.messages.get(message?.id ?? 0) ?? []);
}

/** What a cut at the message gives, by what has joined it until `sinceSeq` and at each append after that. */
function transcriptsAt(
  books: Books,
  sessionId: string,
  messageId: number,
  sinceSeq: number,
): readonly (readonly Message[])[] {
  const versions = [...(books.versions.get(sessionId) ?? [])].map(([seq, { activeIds }]) => ({ seq, activeIds }));
  const first = versions.findIndex(({ activeIds }) => activeIds.includes(messageId));
  const start = versions[first];
  if (start === undefined) return [withoutHidden(books, sessionId, messageId)];
  const upTo = start.activeIds.slice(0, start.activeIds.indexOf(messageId) + 1);
  let behind = start.activeIds.slice(upTo.length);
  const cuts: (readonly Message[])[] = [];
  for (const [index, { activeIds }] of versions.slice(first).entries()) {
    const begins = upTo.every((id, at) => activeIds[at] === id);
    if (begins && behind.every((id, at) => activeIds[upTo.length + at] === id)) behind = activeIds.slice(upTo.length);
    const next = versions[first + index + 1];
    if (next !== undefined && next.seq <= sinceSeq) continue;
    cuts.push(cut(messagesOf(books, upTo), messagesOf(books, behind)));
  }
  return cuts;
}

/** A message that left in the append that brought it was never in a transcript: the cut is where it would have been. */
function withoutHidden(books: Books, sessionId: string, messageId: number): readonly Message[] {
  const at = logOf(books, sessionId).find(({ message }) => message?.id === messageId)?.seq ?? Infinity;
  const version = [...(books.versions.get(sessionId) ?? [])].find(([seq]) => seq >= at)?.[1];
  return cut(messagesOf(books, version?.activeIds.filter((id) => id < messageId) ?? []), []);
}

function messagesOf({ messages }: Books, ids: readonly number[]): readonly Message[] {
  return ids.flatMap((id) => messages.get(id) ?? []);
}

/** The results of the last step come along; a step without all of them, and what somebody said without an answer, stay behind. */
function cut(upTo: readonly Message[], behind: readonly Message[]): readonly Message[] {
  const taken = [...upTo];
  for (const message of behind) {
    if (message.toolCallId === null || !openCalls(taken).some(({ id }) => id === message.toolCallId)) break;
    taken.push(message);
  }
  const [broken] = openCalls(taken);
  const whole = broken === undefined ? taken : taken.slice(0, broken.asker);
  while (isSaid(whole.at(-1))) whole.pop();
  return whole;
}

function isSaid(message: Message | undefined): boolean {
  return message?.kind === 'prompt' || message?.kind === 'steer';
}

/** Each result goes to the newest step before it that asks for its id. */
function openCalls(messages: readonly Message[]): readonly { readonly id: string; readonly asker: number }[] {
  let open: { id: string; asker: number }[] = [];
  for (const [asker, { toolCalls, toolCallId }] of messages.entries()) {
    const ids = new Set(toolCalls.map(({ id }) => id));
    open.push(...[...ids].map((id) => ({ id, asker })));
    const newest = open.findLast(({ id }) => id === toolCallId);
    if (newest !== undefined) open = open.filter((each) => each !== newest);
  }
  return open;
}

function contentOf({ role, kind, text, toolCallId, toolCalls }: Message): string {
  return JSON.stringify([role, kind, text, toolCallId, toolCalls.map(({ id }) => id)]);
}
