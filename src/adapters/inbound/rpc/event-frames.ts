import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { LiveEvent } from '../../../core/ports/event-hub.ts';
import type { WireEvent } from '../../../protocol/events.ts';
import { eventMethod } from '../../../protocol/json-rpc.ts';
import { eventToWire, liveEventToWire, omittedEvent } from './event-to-wire.ts';

/** What a frame of an event may weigh. The limits of its texts keep an ordinary one far below. */
const maxEventBytes = 1024 * 1024;

/** The frames of events. One event is one frame, made once, however many subscribers it has. */
export class EventFrames {
  readonly #frames = new WeakMap<SessionEvent | LiveEvent, Uint8Array>();

  durable(event: SessionEvent): Uint8Array {
    return this.#remember(event, () => {
      const frame = eventFrame(eventToWire(event));
      return frame.byteLength <= maxEventBytes ? frame : eventFrame(omittedEvent(event, frame.byteLength));
    });
  }

  live(event: LiveEvent): Uint8Array {
    return this.#remember(event, () => eventFrame(liveEventToWire(event)));
  }

  #remember(event: SessionEvent | LiveEvent, make: () => Uint8Array): Uint8Array {
    const known = this.#frames.get(event);
    if (known !== undefined) return known;
    const frame = make();
    this.#frames.set(event, frame);
    return frame;
  }
}

export function eventFrame(event: WireEvent): Uint8Array {
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: eventMethod, params: event }));
}
