import type { SessionEvent } from '../../../core/domain/session/events.ts';
import { failed, result } from './answer.ts';
import type { Answer } from './answer.ts';
import type { RpcDependencies } from './dependencies.ts';
import { eventToWire } from './event-to-wire.ts';
import type { Handlers } from './handler.ts';

/* A page of events is one frame. Their texts are cut, so this is about the size that they have on the wire. */
const maxPageBytes = 2 * 1024 * 1024;
const maxEventBytes = 256 * 1024;

type EventHandlers = Pick<Handlers, 'session.subscribe' | 'session.unsubscribe' | 'session.events'>;

/** The events of a session, as they happen and as they were. */
export function makeSessionEventHandlers(deps: RpcDependencies): EventHandlers {
  return {
    'session.subscribe': async ({ session_id, after_seq, store_id }, { subscriptions, replied }) => {
      if (isOfAnotherStore(store_id)) return snapshotRequired('The cursor is of another store.');
      const reservation = subscriptions.reserve(session_id);
      if (reservation === null) return failed('overloaded', { limit: deps.limits.max_subscriptions });
      const state = await deps.sessions.state(session_id);
      if (state === null || state.deletedAt !== null) {
        reservation.cancel();
        return failed('not_found', { what: 'session' });
      }
      const last_seq = state.seq;
      if (after_seq > last_seq) {
        reservation.cancel();
        return snapshotRequired(`The session has no event ${after_seq} yet; its newest one is ${last_seq}.`);
      }
      reservation.start(after_seq, replied);
      return result({ session_id, after_seq, last_seq });
    },

    'session.unsubscribe': async ({ session_id }, { subscriptions }) => {
      const subscribed = subscriptions.end(session_id);
      if ((await deps.queries.findSession(session_id)) === null) return failed('not_found', { what: 'session' });
      return result({ session_id, subscribed });
    },

    'session.events': async ({ session_id, after_seq, limit, store_id }) => {
      if (isOfAnotherStore(store_id)) return snapshotRequired('The cursor is of another store.');
      if ((await deps.queries.findSession(session_id)) === null) return failed('not_found', { what: 'session' });
      const { events, lastSeq } = await deps.queries.events({ sessionId: session_id, afterSeq: after_seq, limit });
      if (after_seq > lastSeq) {
        return snapshotRequired(`The session has no event ${after_seq} yet; its newest one is ${lastSeq}.`);
      }
      return result({
        session_id,
        store_id: deps.identity().storeId,
        events: firstThatFit(events).map(eventToWire),
        last_seq: lastSeq,
      });
    },
  };

  function isOfAnotherStore(storeId: string | undefined): boolean {
    return storeId !== undefined && storeId !== deps.identity().storeId;
  }
}

function snapshotRequired(message: string): Answer<never> {
  return failed('snapshot_required', { message });
}

/** The first events that fit a page; at least one. */
function firstThatFit(events: readonly SessionEvent[]): readonly SessionEvent[] {
  let bytes = 0;
  const end = events.findIndex((event, index) => {
    bytes += Math.min(maxEventBytes, sizeOf(event));
    return index > 0 && bytes > maxPageBytes;
  });
  return end < 0 ? events : events.slice(0, end);
}

function sizeOf(event: SessionEvent): number {
  if (event.type !== 'message.appended' || !('text' in event.message)) return 500;
  const { text, toolCalls } = event.message;
  return 1_000 + text.length + toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
}
