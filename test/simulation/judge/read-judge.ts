/* What history, lineage and search show: everything once, in order, and nothing of what was deleted. */
import { logOf } from './books.ts';
import type { Books } from './books.ts';
import type { Asked } from './calls.ts';
import type { EventRow } from './rows.ts';

export interface HistoryView {
  readonly seq: number;
  readonly kind: string;
  readonly message?: { readonly id: number; readonly text: string };
}

/** All pages of a history together, in the order of the log, whichever way they were read. */
export function judgeHistory(books: Books, asked: Asked, entries: readonly HistoryView[]): void {
  const { verdict } = books;
  if (judgeNothing(books, asked, entries.length, 'history')) return;
  const expected = logOf(books, asked.sessionId).flatMap((event) => entryOf(books, asked.sessionId, event) ?? []);
  const shown = expected.filter(({ seq }) => seq <= Math.max(asked.sinceSeq, entries.at(-1)?.seq ?? 0));
  const nameOf = ({ seq, kind, message }: HistoryView): string => `${seq} ${kind} ${message?.text ?? ''}`;
  const same = entries.map(nameOf).join('\n') === shown.map(nameOf).join('\n');
  verdict.hold(same, 'history', () => {
    const seqs = (all: readonly HistoryView[]): string => all.map(({ seq }) => seq).join();
    return `the history of ${asked.sessionId} shows ${seqs(entries)} instead of ${seqs(shown)}`;
  });
}

function entryOf(books: Books, sessionId: string, event: EventRow): HistoryView | null {
  const { seq, type, message } = event;
  const stored = books.messages.get(message?.id ?? 0);
  if (type === 'message.appended')
    return { seq, kind: 'message', ...(stored === undefined ? {} : { message: stored }) };
  if (type === 'compression.completed') return { seq, kind: 'compression' };
  if (!ends.has(type)) return null;
  const row = books.store.admissions(sessionId).get(event.admissionId ?? '');
  return row?.promptMessageId === null ? { seq, kind: 'prompt' } : null;
}

const ends = new Set(['admission.cancelled', 'turn.settled', 'turn.resolved']);

export interface LineageView {
  readonly transcripts: readonly { readonly id: string; readonly endedAt: string | null }[];
  readonly compressions: readonly { readonly compressionId: string; readonly status: string }[];
}

export function judgeLineageRead(books: Books, asked: Asked, { transcripts, compressions }: LineageView): void {
  const { verdict, store } = books;
  if (judgeNothing(books, asked, compressions.length, 'lineage')) return;
  const chain = store.transcripts(asked.sessionId).map(({ id }) => id);
  const ids = transcripts.map(({ id }) => id);
  const isChain = ids.length > 0 && ids.every((id, index) => id === chain[index]);
  verdict.hold(isChain, 'history', () => `the lineage of ${asked.sessionId} shows ${ids.join()} of ${chain.join()}`);
  const open = transcripts.filter(({ endedAt }) => endedAt === null).map(({ id }) => id);
  verdict.hold(open.join() === ids.at(-1), 'history', () => `the transcripts ${open.join()} are shown as open`);
  const log = logOf(books, asked.sessionId);
  const started = log.flatMap(({ seq, type, compressionId }) =>
    type === 'compression.started' ? [{ seq, compressionId }] : [],
  );
  const least = started.filter(({ seq }) => seq <= asked.sinceSeq).length;
  const inOrder = compressions.every(({ compressionId }, index) => compressionId === started[index]?.compressionId);
  verdict.hold(
    inOrder && compressions.length >= least,
    'history',
    () => `${compressions.length} compressions are shown`,
  );
  for (const { compressionId, status } of compressions) {
    const end = log.find((event) => event.compressionId === compressionId && event.type !== 'compression.started');
    const wasOpen = end === undefined || end.seq > asked.sinceSeq;
    const isTrue = status === 'started' ? wasOpen : end?.type === `compression.${status}`;
    verdict.hold(isTrue, 'history', () => `${compressionId} is shown as ${status}`);
  }
}

export interface FoundView {
  readonly sessionId: string;
  readonly message: { readonly id: number; readonly text: string };
}

export type Searched = Asked & { readonly words: readonly string[]; readonly deletedBefore: ReadonlySet<string> };

/** Each message that holds the words once, the newest first; of the session that was asked for, every one. */
export function judgeFound(books: Books, asked: Searched, hits: readonly FoundView[]): void {
  const { verdict, messages } = books;
  const phrase = new RegExp(`\\b${asked.words.join('\\W+')}\\b`, 'iu');
  const ids = hits.map(({ message }) => message.id);
  verdict.hold(
    ids.every((id, index) => id < (ids[index - 1] ?? Infinity)),
    'search',
    () => `${ids.join()} are found`,
  );
  for (const { sessionId, message } of hits) {
    const isRight = messages.get(message.id)?.text === message.text && phrase.test(message.text);
    verdict.hold(isRight, 'search', () => `message ${message.id} was found for ${asked.words.join(' ')}`);
    const isGone = asked.deletedBefore.has(sessionId);
    verdict.hold(!isGone, 'deletion', () => `message ${message.id} of the deleted ${sessionId} was found`);
  }
  const { deleted } = books.moments.get(asked.sessionId)?.at(-1) ?? { deleted: true };
  if (deleted) return;
  const missing = logOf(books, asked.sessionId).find(({ seq, type, message }) => {
    const stored = messages.get(message?.id ?? 0);
    const isWanted = type === 'message.appended' && stored !== undefined && stored.kind !== 'summary';
    return seq <= asked.sinceSeq && isWanted && phrase.test(stored.text) && !ids.includes(stored.id);
  });
  verdict.hold(missing === undefined, 'search', () => `message ${missing?.message?.id} was not found`);
}

/** Whether a deletion came before or meanwhile; what was deleted before shows nothing. */
function judgeNothing(books: Books, { sessionId, sinceSeq }: Asked, count: number, what: string): boolean {
  const moments = books.moments.get(sessionId) ?? [];
  const wasDeleted = moments[sinceSeq - 1]?.deleted === true;
  books.verdict.hold(
    !wasDeleted || count === 0,
    'deletion',
    () => `the deleted ${sessionId} has a ${what} of ${count}`,
  );
  return moments.at(-1)?.deleted === true;
}
