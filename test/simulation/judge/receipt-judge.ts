/* P1 and P5 on receipts, whatever they are the answer to. */
import { nameOf } from './admissions.ts';
import { asSeenBy, isOwner, wasOnce } from './books.ts';
import type { Books } from './books.ts';
import type { Asked, ReceiptView } from './calls.ts';
import type { Moment } from './moments.ts';
import type { AdmissionRow, ProcessView } from './rows.ts';

/** What a receipt says is stored; an owner that was superseded may be behind, but never ahead. */
export function judgeReceipt(
  books: Books,
  process: ProcessView,
  asked: Asked,
  receipt: ReceiptView,
): AdmissionRow | undefined {
  const { verdict, store } = books;
  const { admission, ahead, blockedBy } = receipt;
  const row = store.admissions(asked.sessionId).get(admission.admissionId);
  verdict.hold(row !== undefined, 'P1', () => `the receipt of ${nameOf(admission)} came before its commit`);
  if (row === undefined) return row;
  const owner = isOwner(books, process);
  const since = asSeenBy(books, process, asked);
  const isTrue = wasOnce(books, since, (moment) => {
    const life = moment.admissions.get(admission.admissionId);
    return (
      life?.status === admission.status &&
      life.outcome === admission.outcome &&
      life.executionGeneration === admission.executionGeneration &&
      life.revision === admission.revision &&
      (life.status !== 'queued' ||
        !owner ||
        (life.isSteer
          ? ahead === 0 && blockedBy.length === 0
          : aheadAt(moment, life.position) === ahead && sameBlocks(moment, blockedBy)))
    );
  });
  verdict.hold(
    isTrue,
    'P5',
    () => `a receipt says ${nameOf(admission)}, ${ahead} ahead, [${blockedBy.join()}] of ${nameOf(row)}`,
  );
  return row;
}

function aheadAt({ admissions }: Moment, position: number): number {
  return [...admissions.values()].filter(
    (life) => life.status !== 'terminal' && !life.isSteer && life.position < position,
  ).length;
}

function sameBlocks({ admissions, held }: Moment, blockedBy: readonly string[]): boolean {
  const unknown = [...admissions.values()].some(({ status }) => status === 'unknown');
  return blockedBy.includes('unknown_execution') === unknown && blockedBy.includes('session_held') === held;
}
