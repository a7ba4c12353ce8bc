import type { SessionEvent } from '../domain/session/events.ts';

/**
 * Gives out the numbers that are unique in the whole store: message ids and admission sequence numbers. It starts
 * above everything that the store has ever given out, and a number that was decided with is never given out again,
 * also when its append is refused.
 */
export interface Numbering {
  begin(): NumberRun;
}

/** The numbers of one round of decisions. Nothing is used up until `keep`. */
interface NumberRun {
  next(): { readonly nextMessageId: number; readonly nextAdmissionSeq: number };
  use(events: readonly SessionEvent[]): void;
  keep(): void;
}

export function makeNumbering(first: { readonly nextMessageId: number; readonly nextAdmissionSeq: number }): Numbering {
  let { nextMessageId, nextAdmissionSeq } = first;
  return {
    begin() {
      let messageId = nextMessageId;
      let admissionSeq = nextAdmissionSeq;
      return {
        next: () => ({ nextMessageId: messageId, nextAdmissionSeq: admissionSeq }),
        use(events) {
          for (const event of events) {
            messageId += messagesOf(event);
            admissionSeq += event.type === 'admission.queued' ? 1 : 0;
          }
        },
        keep() {
          nextMessageId = messageId;
          nextAdmissionSeq = admissionSeq;
        },
      };
    },
  };
}

function messagesOf(event: SessionEvent): number {
  if (event.type === 'message.appended') return 1;
  if (event.type === 'compression.completed') return event.head.length + 1 + event.tail.length;
  return 0;
}
