import { cancelAdmission, mergeAdmission, resolveAdmission, settleAdmission } from '../admission/admission.ts';
import type { Admission } from '../admission/admission.ts';
import type { SessionEvent } from './events.ts';

/** The events that make an admission terminal. */
export type EndingEvent = Extract<
  SessionEvent,
  { type: 'admission.cancelled' | 'admission.merged' | 'turn.settled' | 'turn.resolved' }
>;

export function isEnding(event: SessionEvent): event is EndingEvent {
  return endingTypes.has(event.type);
}

const endingTypes: ReadonlySet<SessionEvent['type']> = new Set<EndingEvent['type']>([
  'admission.cancelled',
  'admission.merged',
  'turn.settled',
  'turn.resolved',
]);

/** The terminal form of an admission after the event that ends it. */
export function endedAdmission(admission: Admission, event: EndingEvent): Admission {
  switch (event.type) {
    case 'admission.cancelled':
      return cancelAdmission(admission, event.at, event.failure ?? null);
    case 'admission.merged':
      return mergeAdmission(admission, event);
    case 'turn.settled':
      return settleAdmission(admission, event);
    case 'turn.resolved':
      return resolveAdmission(admission, event.resolution, event.retriedBy);
  }
}
