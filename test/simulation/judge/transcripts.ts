/* P7, P9 and P10 on the rows of transcripts and messages: what one append may do to them. */
import { activeMessages } from './books.ts';
import type { Books } from './books.ts';
import { resultOf } from './expected-request.ts';
import type { AdmissionRow, EventRow, MessageRow, SessionRow, TranscriptRow } from './rows.ts';

type Message = MessageRow['message'];

export interface ContentChange {
  readonly sessionId: string;
  readonly before: SessionRow | null;
  readonly after: SessionRow;
  readonly admissionsBefore: ReadonlyMap<string, AdmissionRow>;
  readonly admissionsAfter: ReadonlyMap<string, AdmissionRow>;
  /** The messages of every transcript before the append, by transcript id and message id. */
  readonly messagesBefore: ReadonlyMap<string, ReadonlyMap<number, MessageRow>>;
  readonly events: readonly EventRow[];
}

export function judgeTranscripts(books: Books, change: ContentChange): void {
  judgeLineage(books, change);
  judgeStoredMessages(books, change);
  judgeNewMessages(books, change);
  const rotation = change.events.some(({ type }) => type === 'compression.completed');
  if (rotation) {
    judgeCompression(books, change);
    books.reported.delete(change.sessionId);
  }
  judgeClosing(books, change);
}

/** One chain from the session's own id to the tip, of which only the tip is open. */
function judgeLineage({ verdict, store }: Books, { sessionId, before, after }: ContentChange): void {
  const transcripts = store.transcripts(sessionId);
  const children = new Map<string, TranscriptRow[]>();
  for (const row of transcripts) {
    if (row.parentId !== null) children.set(row.parentId, [...(children.get(row.parentId) ?? []), row]);
  }
  for (const row of transcripts) {
    const own = children.get(row.id) ?? [];
    verdict.hold(own.length <= 1, 'P7', () => `${row.id} has ${own.length} children`);
    const isTip = row.id === after.tipId;
    const complete = isTip ? row.endedAt === null && own.length === 0 : row.endedAt !== null && own.length === 1;
    verdict.hold(
      complete,
      'P7',
      () => `${row.id} is ${row.endedAt === null ? 'open' : 'closed'}, the tip is ${after.tipId}`,
    );
    verdict.hold((row.parentId === null) === (row.id === sessionId), 'P8', () => `${row.id} begins a second lineage`);
  }
  verdict.hold(
    transcripts.some(({ id }) => id === after.tipId),
    'P7',
    () => `the tip ${after.tipId} is no transcript of ${sessionId}`,
  );
  if (before === null || before.tipId === after.tipId) return;
  const parent = transcripts.find(({ id }) => id === after.tipId)?.parentId;
  verdict.hold(parent === before.tipId, 'P7', () => `the tip went from ${before.tipId} to a child of ${parent}`);
}

/** What is stored stays readable and as it is; it leaves the transcript only by a compression or when it is hidden. */
function judgeStoredMessages({ verdict, store }: Books, change: ContentChange): void {
  const mayRetire = change.events.some(({ type }) => type === 'compression.completed');
  const mayHide = change.events.some((event) => event.type === 'turn.settled');
  for (const [transcriptId, rows] of change.messagesBefore) {
    const now = store.messages(transcriptId);
    for (const [id, row] of rows) {
      const current = now.get(id);
      if (current === row) continue;
      if (current === undefined) {
        verdict.breach('P9', `message ${id} is gone`);
        continue;
      }
      const same = current.message === row.message || JSON.stringify(current.message) === JSON.stringify(row.message);
      verdict.hold(same, 'P9', () => `message ${id} was changed`);
      verdict.hold(row.active || !current.active, 'P9', () => `message ${id} came back`);
      if (row.active && !current.active) {
        const hiddenPrompt = mayHide && isOfExhaustedTurn(change, row.message);
        verdict.hold(mayRetire || hiddenPrompt, 'P9', () => `message ${id} left the transcript without a compression`);
      }
    }
  }
}

function isOfExhaustedTurn(change: ContentChange, message: Message): boolean {
  const row = change.admissionsAfter.get(message.admissionId ?? '');
  return row?.status === 'terminal' && row.failure?.reason === 'context_exhausted';
}

function judgeNewMessages({ verdict, store }: Books, change: ContentChange): void {
  let newest = 0;
  for (const rows of change.messagesBefore.values()) for (const id of rows.keys()) newest = Math.max(newest, id);
  for (const { id: transcriptId } of store.transcripts(change.sessionId)) {
    const known = change.messagesBefore.get(transcriptId);
    for (const [id, { message }] of store.messages(transcriptId)) {
      if (known?.has(id) === true) continue;
      verdict.hold(transcriptId === change.after.tipId, 'P7', () => `message ${id} was stored outside of the tip`);
      verdict.hold(id > newest, 'P9', () => `message ${id} was stored after message ${newest}`);
      if (message.originId !== message.id) judgeCopy(change, message, (why) => verdict.breach('P9', why));
    }
  }
}

function judgeCopy({ messagesBefore }: ContentChange, copy: Message, breach: (why: string) => void): void {
  for (const rows of messagesBefore.values()) {
    const origin = rows.get(copy.originId)?.message;
    if (origin === undefined) continue;
    const same =
      origin.text === copy.text &&
      origin.role === copy.role &&
      origin.admissionId === copy.admissionId &&
      origin.toolCallId === copy.toolCallId &&
      JSON.stringify(origin.toolCalls) === JSON.stringify(copy.toolCalls);
    if (!same) breach(`message ${copy.id} is no true copy of ${copy.originId}`);
    if (origin.originId !== origin.id) breach(`message ${copy.id} names the copy ${origin.id} as its origin`);
    return;
  }
  breach(`message ${copy.id} is a copy of ${copy.originId}, which doesn't exist`);
}

/** Head and tail stay as they were, in order; one summary that the model server finished takes the middle's place. */
function judgeCompression(books: Books, change: ContentChange): void {
  const { verdict, store, summaries } = books;
  const { before, after } = change;
  const rowsBefore = [...(change.messagesBefore.get(before?.tipId ?? '')?.values() ?? [])];
  const wasActive = rowsBefore
    .filter((row) => row.active)
    .map((row) => row.message)
    .sort((a, b) => a.id - b.id);
  const isActive = activeMessages(store, after.tipId);
  const at = isActive.findIndex(
    (message) => message.kind === 'summary' && message.originId === message.id && !known(message),
  );
  const summary = isActive[at];
  if (!verdict.hold(summary !== undefined, 'P9', () => 'a compression left no summary') || summary === undefined)
    return;
  verdict.hold(summary.text.trim() !== '', 'P9', () => 'an empty summary was stored');
  verdict.hold(summaries.has(summary.text), 'P9', () => 'a summary was stored that no model has finished');
  const head = isActive.slice(0, at);
  const tail = withoutNextPrompt(isActive.slice(at + 1));
  const originsBefore = wasActive.map((message) => message.originId);
  const keptHead = head.every((message, index) => message.originId === originsBefore[index]);
  const newestPrompt = wasActive.findLast(({ kind }) => kind === 'prompt')?.originId;
  const keptTail =
    isSuffix(tail, originsBefore) || (tail[0]?.originId === newestPrompt && isSuffix(tail.slice(1), originsBefore));
  const summarised = originsBefore.length - head.length - tail.length;
  verdict.hold(
    keptHead && keptTail,
    'P9',
    () => `a compression made [${isActive.map(({ originId }) => originId).join(' ')}] of [${originsBefore.join(' ')}]`,
  );
  verdict.hold(summarised > 0, 'P9', () => `a compression summarised ${summarised} messages`);
  const summaryCount = isActive.filter(({ kind }) => kind === 'summary').length;
  verdict.hold(summaryCount === 1, 'P9', () => `${summaryCount} summaries are stacked in ${after.tipId}`);

  function known(message: Message): boolean {
    return rowsBefore.some((row) => row.message.id === message.id);
  }
}

/** Of a turn that is too big by itself the prompt may stay and the steps behind it be summarised. */
function isSuffix(tail: readonly Message[], origins: readonly number[]): boolean {
  return tail.every(({ originId }, index) => originId === origins[origins.length - tail.length + index]);
}

/** A turn that ends without an answer leaves a transcript that the next prompt can follow. */
function judgeClosing(books: Books, change: ContentChange): void {
  const { verdict, store } = books;
  const { admissionsBefore, admissionsAfter, after } = change;
  for (const row of admissionsAfter.values()) {
    const earlier = admissionsBefore.get(row.admissionId);
    if (row === earlier || row.status !== 'terminal' || row.promptMessageId === null) continue;
    if (row.mergedInto !== null) continue; // It never was a turn.
    const active = activeMessages(store, after.tipId);
    const last = active.at(-1);
    const own = active.filter((message) => message.admissionId === row.admissionId);
    const bricks = row.failure?.reason === 'context_exhausted' && own.length > 0 && own.every(isPromptOrNote);
    verdict.hold(!bricks, 'P13', () => `the prompt of ${row.inputId}, which fits no window, stays in the transcript`);
    const hidden = row.failure?.reason === 'context_exhausted' && own.length === 0;
    const closed = hidden || last?.role === 'assistant';
    verdict.hold(closed, 'P10', () => `${row.inputId} ended as ${row.outcome} behind a message of the ${last?.role}`);
    const open = active
      .flatMap((message, index) => message.toolCalls.map(({ id }) => ({ id, index })))
      .find(({ id, index }) => resultOf(active, index, id) === undefined);
    verdict.hold(open === undefined, 'P10', () => `${row.inputId} ended with the open call ${open?.id}`);
  }
}

function isPromptOrNote({ kind }: Message): boolean {
  return kind === 'prompt' || kind === 'note';
}

/** A follower may be claimed in the append that ends a compression: its prompt is no part of what was compressed. */
function withoutNextPrompt(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  return last?.kind === 'prompt' && last.originId === last.id ? messages.slice(0, -1) : messages;
}
