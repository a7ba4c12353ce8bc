import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EventFeed } from '../../../src/client/event-feed.ts';
import type { DurableWireEvent } from '../../../src/protocol/events.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sessionId = 'session-1';
const storeId = 'store-1';

test('a log that has lost what was heard of is asked again from time to time, and not without end', async () => {
  let pages = 0;
  const feed = new EventFeed(
    {
      subscribe: async () => ({ session_id: sessionId, after_seq: 0, last_seq: 0 }),
      unsubscribe: () => undefined,
      ended: () => undefined,
      events: async () => {
        pages += 1;
        if (pages > 1000) throw new Error('The log is read again and again.');
        return { session_id: sessionId, store_id: storeId, events: [], last_seq: 0 };
      },
    },
    { sessionId, storeId, afterSeq: 0 },
  );
  await feed.attach();

  feed.receive(held(2));
  await vi.advanceTimersByTimeAsync(1_400);

  expect(pages).toBe(3);
  feed.close();
});

function held(seq: number): DurableWireEvent {
  // A feed looks at nothing but the number.
  return { type: 'session.held', session_id: sessionId, seq } as DurableWireEvent;
}
