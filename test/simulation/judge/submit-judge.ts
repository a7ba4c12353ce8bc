/* P2, P5, P8 and P13 on a prompt, or a steer, that was refused. */
import { admissionOf, isOwner, newestMoment, statusOfTurn, wasMissing, wasOnce, wasRightlyRefused } from './books.ts';
import type { Books } from './books.ts';
import type { Asked } from './calls.ts';
import type { Moment } from './moments.ts';
import type { ProcessView } from './rows.ts';

/** A prompt; with a generation, one for a turn that runs. */
export type Submitted = Asked & {
  readonly inputId: string;
  readonly text: string;
  readonly executionGeneration?: number;
  readonly ifOver?: string;
};

export function judgeSubmitRefusal(books: Books, process: ProcessView, asked: Submitted, reason: string): void {
  const { verdict, store, limits } = books;
  const row = admissionOf(books, asked);
  if (reason === 'admission_conflict') {
    const { executionGeneration: generation, ifOver } = asked;
    const isOther = row?.steers?.generation !== generation || row?.steers?.ifOver !== ifOver;
    const differs = row !== undefined && (submittedText(books, asked, row.admissionId) !== asked.text || isOther);
    verdict.hold(differs, 'P2', () => `${asked.inputId} was called a conflict with itself`);
    return;
  }
  if (!isOwner(books, process)) return;
  verdict.hold(wasMissing(books, asked, row), 'P2', () => `the known ${asked.inputId} was refused as ${reason}`);
  if (reason === 'queue_full') {
    const wasFull = wasOnce(books, asked, (moment) => queuedAt(moment) >= limits.maxQueuedPerSession);
    verdict.hold(wasFull, 'P13', () => `${asked.inputId} was refused as queue_full, which the queue never was`);
  } else if (reason === 'draining') {
    verdict.hold(process.draining, 'P13', () => 'draining was answered by a process that serves');
  } else if (asked.executionGeneration !== undefined && reason !== 'not_found') {
    judgeSteerRefusal(books, asked, asked.executionGeneration, reason);
  } else {
    const missing = reason === 'not_found' && store.session(asked.sessionId) === null;
    verdict.hold(missing, 'P8', () => `a submit to ${asked.address} was refused as ${reason}`);
  }
}

function judgeSteerRefusal(books: Books, asked: Submitted, generation: number, reason: string): void {
  const isRight = wasRightlyRefused(books, asked, reason, {
    turn_over: (moment) =>
      !['started', 'unknown'].includes(statusOfTurn(moment, generation)) || isStopped(moment, generation),
    stale_generation: (moment) => moment.executionGeneration < generation,
    unknown_execution: (moment) => statusOfTurn(moment, generation) === 'unknown',
  });
  books.verdict.hold(isRight, 'P5', () => `a steer of generation ${generation} was refused as ${reason}`);
}

/** What an id stands for, whatever was edited since. */
export function submittedText(books: Books, { sessionId }: Asked, admissionId: string): string | undefined {
  return newestMoment(books, sessionId).admissions.get(admissionId)?.submittedText;
}

function queuedAt({ admissions }: Moment): number {
  return [...admissions.values()].filter(({ status }) => status === 'queued').length;
}

function isStopped({ admissions }: Moment, executionGeneration: number): boolean {
  return [...admissions.values()].some((life) => life.executionGeneration === executionGeneration && life.stopped);
}
