import type { SessionEvent } from '../../../core/domain/session/events.ts';
import { metaOf } from '../../../core/domain/transcript/message.ts';
import { frozenCopy } from './frozen-copy.ts';

/**
 * An event as the log keeps it: rows refer to messages and payloads, they don't copy them. So what the log gives back
 * has no content, and `evolve` must do without.
 */
export function storedForm(event: SessionEvent): SessionEvent {
  return frozenCopy(withoutContent(event));
}

function withoutContent(event: SessionEvent): SessionEvent {
  if (event.type === 'admission.queued') {
    const { payload, ...stored } = event;
    return stored;
  }
  if (event.type === 'admission.edited') {
    const { payload, ...stored } = event;
    return stored;
  }
  if (event.type === 'message.appended') {
    const { contentFrom, ...stored } = event;
    return { ...stored, message: metaOf(event.message) };
  }
  if (event.type === 'compression.completed') return { ...event, summary: metaOf(event.summary) };
  return event;
}
