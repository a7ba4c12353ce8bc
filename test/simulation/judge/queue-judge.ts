/* P2 and P3 on edits and moves: what they may do, and what the queue is afterwards. */
import { asSeenBy, isOwner, wasOnce, wasRightlyRefused } from './books.ts';
import type { Books } from './books.ts';
import type { Asked, Heard, ReceiptView } from './calls.ts';
import type { Life, Moment } from './moments.ts';
import { judgeReceipt } from './receipt-judge.ts';
import type { EventRow, ProcessView } from './rows.ts';

/** How a request names a prompt. */
export interface PromptKey {
  readonly admissionId: string | null;
  readonly inputId: string;
}

export type Edited = Asked & PromptKey & { readonly revision: number | null; readonly text: string };
export type Moved = Asked & PromptKey & { readonly revision: number | null; readonly to: Place };
export type Place = 'first' | 'last' | { readonly before: string };

/** Only what waits in the queue is edited or moved; a new prompt is the last, and a retry stands where its origin stood. */
export function judgeQueueEvent({ verdict }: Books, { admissions }: Moment, event: EventRow): void {
  const { type, admissionId } = event;
  const life = admissions.get(admissionId ?? '');
  const place = `${admissionId}, which is ${life?.status}`;
  if (type === 'admission.edited') {
    verdict.hold(life?.status === 'queued' && !life.isSteer, 'P2', () => `${place}, was edited`);
  }
  if (type === 'admission.moved') {
    verdict.hold(life !== undefined && life.status !== 'terminal', 'P3', () => `${place}, was moved`);
  }
  if (type === 'message.appended' && event.message?.kind === 'prompt' && life !== undefined) {
    const { text } = event.message;
    verdict.hold(
      text === life.text,
      'P2',
      () => `${place}, runs with another text than it was given: ${text?.slice(0, 60)}`,
    );
  }
  if (type !== 'admission.queued') return;
  const { position = 0, inputId = '' } = event.admission ?? {};
  const others = [...admissions.values()].filter(({ status }) => status !== 'terminal');
  if (!inputId.includes('~')) {
    const behind = others.every((other) => other.position < position);
    verdict.hold(behind, 'P3', () => `${inputId} was put before somebody who came first`);
    return;
  }
  const origin = admissions.get(event.payloadFrom ?? '');
  const isHead = others.every((other) => other.status !== 'queued' || other.position > position);
  const stands = origin !== undefined && origin.position <= position && isHead;
  verdict.hold(stands, 'P3', () => `the retry ${inputId} doesn't stand at the place of ${origin?.inputId}`);
}

/** Every prompt that is kept says what it was last given. */
export function judgeTexts({ verdict, store }: Books, { admissions, deleted }: Moment): void {
  for (const [admissionId, { text }] of admissions) {
    const stored = store.prompt(admissionId);
    if (deleted) verdict.hold(stored === null, 'deletion', () => `the prompt of ${admissionId} is left`);
    else
      verdict.hold(
        stored === text,
        'P2',
        () => `${admissionId} says ${stored?.slice(0, 60)} instead of ${text.slice(0, 60)}`,
      );
  }
}

/** Nobody stands before the turn that runs or is unknown: a move overtakes those that wait, and no more. */
export function judgeQueueOrder({ verdict }: Books, { admissions }: Moment): void {
  const lives = [...admissions.values()];
  const turn = lives.find(({ status }) => status === 'started' || status === 'unknown');
  if (turn === undefined) return;
  const overtaking = lives.find((life) => life.status === 'queued' && life.position < turn.position);
  verdict.hold(
    overtaking === undefined,
    'P3',
    () => `${overtaking?.inputId} was put before ${turn.inputId}, which runs`,
  );
}

export function judgeEdited(books: Books, process: ProcessView, asked: Edited, heard: Heard<ReceiptView>): void {
  if (heard.kind === 'done') {
    judgeReceipt(books, process, asked, heard.reply);
    const says = ({ text }: Life): boolean => text === asked.text;
    const isTaken = wasOnce(books, asSeenBy(books, process, asked), (moment) => holdsFor(moment, asked, says));
    books.verdict.hold(isTaken, 'P1', () => `an edit of ${asked.inputId} was acknowledged and is not stored`);
    judgeRevision(books, asSeenBy(books, process, asked));
  } else if (heard.kind === 'refused') judgeQueueRefusal(books, process, asked, heard.refusal.reason);
}

export function judgeMoved(books: Books, process: ProcessView, asked: Moved, heard: Heard<ReceiptView>): void {
  if (heard.kind === 'done') {
    judgeReceipt(books, process, asked, heard.reply);
    const since = asSeenBy(books, process, asked);
    const isThere = wasOnce(books, since, (moment) =>
      holdsFor(moment, asked, (life) => stands(moment, life, asked.to)),
    );
    const to = JSON.stringify(asked.to);
    books.verdict.hold(isThere, 'move', () => `${asked.inputId} was said to be moved to ${to} and never stood there`);
    judgeRevision(books, asSeenBy(books, process, asked));
  } else if (heard.kind === 'refused') judgeQueueRefusal(books, process, asked, heard.refusal.reason);
}

function stands({ admissions }: Moment, life: Life, to: Place): boolean {
  const waiting = [...admissions].filter(([, other]) => other.status === 'queued' && other !== life);
  const inQueue = waiting.filter(([, other]) => !other.isSteer);
  if (to === 'first') return inQueue.every(([, other]) => other.position > life.position);
  if (to === 'last') return waiting.every(([, other]) => other.position < life.position);
  const next = waiting
    .sort(([, a], [, b]) => a.position - b.position)
    .find(([, other]) => other.position > life.position);
  return next?.[0] === to.before;
}

/** With a revision only what has this revision is changed. */
function judgeRevision(books: Books, asked: Edited | Moved): void {
  const { revision } = asked;
  if (revision === null) return;
  const had = wasOnce(books, asked, (moment) => holdsFor(moment, asked, (life) => life.revision === revision));
  books.verdict.hold(had, 'P5', () => `${asked.inputId} was changed at revision ${revision}, which it never had`);
}

function judgeQueueRefusal(books: Books, process: ProcessView, asked: Edited | Moved, reason: string): void {
  if (!isOwner(books, process)) return;
  const isRight = wasRightlyRefused(books, asked, reason, {
    not_queued: (moment) => lifeIn(moment, asked) !== undefined && !waits(lifeIn(moment, asked)),
    revision_conflict: (moment) => holdsFor(moment, asked, ({ revision }) => revision !== asked.revision),
    not_found: (moment) => moment.deleted || lifeIn(moment, asked) === undefined || isWithoutNeighbour(moment, asked),
  });
  books.verdict.hold(isRight, 'P5', () => `a change of ${asked.inputId} was refused as ${reason}`);
}

function isWithoutNeighbour(moment: Moment, asked: Edited | Moved): boolean {
  if (!('to' in asked) || typeof asked.to === 'string') return false;
  const neighbour = moment.admissions.get(asked.to.before);
  return neighbour?.status !== 'queued' || neighbour === lifeIn(moment, asked);
}

function holdsFor(moment: Moment, key: PromptKey & Asked, isTrue: (life: Life) => boolean): boolean {
  const life = lifeIn(moment, key);
  return life !== undefined && waits(life) && isTrue(life);
}

function waits(life: Life | undefined): boolean {
  return life?.status === 'queued' && !life.isSteer;
}

function lifeIn({ admissions }: Moment, { admissionId, inputId, principalId }: PromptKey & Asked): Life | undefined {
  if (admissionId !== null) return admissions.get(admissionId);
  return [...admissions.values()].find((life) => life.inputId === inputId && life.principalId === principalId);
}
