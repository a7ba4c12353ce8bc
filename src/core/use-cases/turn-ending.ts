import { failureOf } from '../domain/model/failure.ts';
import type { Failure } from '../domain/model/failure.ts';
import type { MessageDraft } from '../domain/transcript/message.ts';
import { isCutShort } from './patient-reads.ts';

/** How a turn is to end. */
export interface Ending {
  readonly outcome: 'completed' | 'failed' | 'interrupted';
  /** The final answer, or what there is of one. */
  readonly answer: MessageDraft | null;
  readonly failure: Failure | null;
}

/** It is over already, or the process is about to stop: nothing is left to be settled. */
export type Over = null;

export function broken(failure: Failure): Ending {
  return { outcome: 'failed', answer: null, failure };
}

export function interrupted(answer: MessageDraft | null): Ending {
  return { outcome: 'interrupted', answer, failure: null };
}

/** What a step has brought can't be stored, so nothing of it is. */
export const tooLarge = failureOf('internal', 'What the step brought is too large to be stored.');

/** How a turn ends whose command was not accepted. */
export function endingOf(
  sent: { readonly kind: 'refused'; readonly refusal: { readonly reason: string } } | { readonly kind: 'unavailable' },
  answer: MessageDraft | null,
): Ending | Over {
  if (sent.kind !== 'refused') return null;
  if (sent.refusal.reason === 'too_large') return broken(tooLarge);
  return sent.refusal.reason === 'stop_requested' ? interrupted(answer) : null;
}

/** How a turn ends that was told to stop while it waited for a busy storage. Without a claim there is nothing to settle. */
export function endingAfter(error: unknown, stopped: AbortSignal, isClaimed: boolean): Ending | Over {
  if (!isCutShort(error, stopped)) throw error;
  return isClaimed ? interrupted(null) : null;
}
