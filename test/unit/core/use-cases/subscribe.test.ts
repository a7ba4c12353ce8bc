import { describe, expect, test } from 'vitest';
import { MemoryEventHub } from '../../../../src/adapters/outbound/memory/memory-event-hub.ts';
import { silentLogger } from '../../../../src/adapters/outbound/memory/silent-logger.ts';
import type { SessionEvent } from '../../../../src/core/domain/session/events.ts';
import type { LiveEvent } from '../../../../src/core/ports/event-hub.ts';
import type { SessionQueries } from '../../../../src/core/ports/session-queries.ts';
import { makeSubscribe } from '../../../../src/core/use-cases/subscribe.ts';
import type { EventSink, Subscription } from '../../../../src/core/use-cases/subscribe.ts';
import { anEvent, aHold, anInstant, aSessionId } from '../../../support/builders.ts';
import { quiet } from '../../../support/memory-gateway.ts';

/** A log, the hub that tells of it, and a receiver that notes what it gets. */
class World {
  readonly hub = new MemoryEventHub(silentLogger);
  readonly log: SessionEvent[] = [];
  readonly got: (number | string)[] = [];
  readonly errors: unknown[] = [];
  /** Done before each page is read. */
  beforeRead: (afterSeq: number) => Promise<void> = async () => undefined;
  /** Done after each page was read, before it arrives. */
  afterRead: () => Promise<void> = async () => undefined;
  /** How much the receiver takes before its backlog is full. */
  room = Infinity;
  drained: () => Promise<void> = async () => undefined;
  onDurable: (event: SessionEvent) => void = () => undefined;
  pages = 0;
  /** How many of the newest events the log has lost, although the session still counts them. */
  lost = 0;

  /** Appends events, and publishes them unless they are to be missed. */
  commit(count: number, options: { published?: boolean } = {}): void {
    const events = Array.from({ length: count }, (_, index) =>
      anEvent({ type: 'session.held', hold: aHold() }, { seq: this.log.length + index + 1 }),
    );
    this.log.push(...events);
    if (options.published ?? true) this.hub.publish(aSessionId, events);
  }

  /** Leaves nothing of the session but its end. */
  delete(options: { published?: boolean } = {}): void {
    const end = anEvent({ type: 'session.deleted', by: 'local' }, { seq: this.log.length + 1 });
    this.log.splice(0, Infinity, end);
    if (options.published ?? true) this.hub.publish(aSessionId, [end]);
  }

  say(text: string): void {
    const live: LiveEvent = {
      type: 'message.delta',
      sessionId: aSessionId,
      at: anInstant,
      epoch: 1,
      admissionId: 'admission-1',
      executionGeneration: 1,
      step: 1,
      offset: 0,
      text,
    };
    this.hub.publishLive(live);
  }

  subscribe(afterSeq: number): Subscription {
    const queries: Pick<SessionQueries, 'events'> = {
      events: async ({ afterSeq: after, limit }) => {
        this.pages += 1;
        if (this.pages > 1000) throw new Error('The log is read again and again.');
        await this.beforeRead(after);
        const later = this.log.filter(({ seq }) => seq > after);
        const page = { events: later.slice(0, limit), lastSeq: (this.log.at(-1)?.seq ?? 0) + this.lost };
        await this.afterRead();
        return page;
      },
    };
    const sink: EventSink = {
      durable: (event) => {
        if (this.got.length >= this.room) return false;
        this.got.push(event.seq);
        this.onDurable(event);
        return true;
      },
      live: (event) => {
        if (this.got.length >= this.room) return false;
        this.got.push('text' in event ? event.text : event.type);
        return true;
      },
      gap: (lastSeq) => this.got.push(`gap after ${String(lastSeq)}`),
      drained: () => this.drained(),
    };
    return makeSubscribe({
      hub: this.hub,
      queries: queries as SessionQueries, // a subscription reads nothing else
      onError: (error) => this.errors.push(error),
      pageSize: 3,
    })({ sessionId: aSessionId, afterSeq, sink });
  }
}

const upTo = (last: number, first = 1): number[] => Array.from({ length: last - first + 1 }, (_, n) => first + n);

describe('a subscription', () => {
  test('begins with the event after the one that its receiver has', async () => {
    const world = new World();
    world.commit(10);

    world.subscribe(4);
    await quiet();

    expect(world.got).toEqual(upTo(10, 5));
  });

  test('goes on with what happens', async () => {
    const world = new World();
    world.commit(2);
    world.subscribe(0);
    await quiet();

    world.commit(2);
    world.commit(1);

    expect(world.got).toEqual(upTo(5));
  });

  test('of a receiver that has everything begins with what happens', async () => {
    const world = new World();
    world.commit(3);
    world.subscribe(3);
    await quiet();

    world.commit(1);

    expect(world.got).toEqual([4]);
  });

  test('has neither gap nor repeat, whatever is committed while the past is read', async () => {
    const world = new World();
    world.commit(7);
    world.beforeRead = async (afterSeq) => {
      if (afterSeq < 20) world.commit(2);
    };

    world.subscribe(0);
    await quiet();
    world.commit(1);

    expect(world.got).toEqual(upTo(world.log.length));
  });

  test('has neither gap nor repeat, at whatever microtask of its beginning something is committed', async () => {
    for (let later = 0; later < 15; later += 1) {
      const world = new World();
      world.commit(4);
      world.subscribe(1);
      for (let microtask = 0; microtask < later; microtask += 1) await Promise.resolve();
      world.commit(1);
      await quiet();
      world.commit(1);

      expect([later, world.got]).toEqual([later, upTo(6, 2)]);
    }
  });

  test('S1: notices a hole in what it hears, and reads it in the log', async () => {
    const world = new World();
    world.subscribe(0);
    await quiet();

    world.commit(2, { published: false });
    world.commit(1);
    await quiet();

    expect(world.got).toEqual(upTo(3));
  });

  test('S1: is ended by a hole that the log has itself', async () => {
    const world = new World();
    world.commit(5);
    world.log.splice(0, 2);

    world.subscribe(1);
    await quiet();

    expect(world.got).toEqual(['gap after 1']);
  });

  test('S1: is ended by a log that has lost its newest events', async () => {
    const world = new World();
    world.commit(3);
    world.lost = 2;

    world.subscribe(1);
    await quiet();

    expect([world.got, world.errors]).toEqual([[...upTo(3, 2), 'gap after 3'], []]);
  });

  test('S1: is ended by a log that has lost what was heard of', async () => {
    const world = new World();
    world.commit(1);
    world.beforeRead = async () => {
      if (world.pages > 1) return;
      world.commit(2);
      world.log.splice(1, 2);
    };

    world.subscribe(0);
    await quiet();

    expect([world.got, world.errors]).toEqual([[1, 'gap after 1'], []]);
  });

  test('S1: goes on when an event comes between the reading of a page and its arrival', async () => {
    const world = new World();
    world.commit(1);
    let late = false;
    world.afterRead = async () => {
      if (!late) world.commit(1);
      late = true;
    };

    world.subscribe(1);
    await quiet();

    expect([world.got, world.errors]).toEqual([[2], []]);
  });

  test('ignores what it has had', async () => {
    const world = new World();
    world.commit(3);
    world.subscribe(0);
    await quiet();

    world.hub.publish(aSessionId, world.log.slice(0, 2));

    expect(world.got).toEqual(upTo(3));
  });

  test('S2: says live things that come while the past is read behind it', async () => {
    const world = new World();
    world.commit(2);
    world.subscribe(0);
    world.say('early');
    await quiet();
    world.say('later');

    expect(world.got).toEqual([1, 2, 'early', 'later']);
  });

  test('S2: leaves out a live thing that something durable has overtaken', async () => {
    const world = new World();
    world.commit(2);
    world.subscribe(0);
    world.say('early');
    world.commit(1);
    await quiet();
    world.say('later');

    expect(world.got).toEqual([1, 2, 3, 'later']);
  });

  test('S3: sends the next event only when the receiver has room for it', async () => {
    const world = new World();
    world.commit(9);
    let open = (): void => undefined;
    let asked = 0;
    world.drained = () => {
      asked += 1;
      return asked === 5 ? new Promise((resolve) => (open = resolve)) : Promise.resolve();
    };

    world.subscribe(0);
    await quiet();
    expect(world.got.length).toBeLessThan(9);
    open();
    await quiet();

    expect(world.got).toEqual(upTo(9));
  });

  test('S3: reads the past page by page', async () => {
    const world = new World();
    world.commit(9);

    world.subscribe(0);
    await quiet();

    expect(world.pages).toBe(3);
  });

  test('of another session hears nothing of this one', async () => {
    const world = new World();
    world.subscribe(0);
    await quiet();

    world.hub.publish('another-session', [anEvent({ type: 'session.held', hold: aHold() })]);

    expect(world.got).toEqual([]);
  });
});

describe('a receiver that is too slow', () => {
  test('is told where it stopped, and hears nothing more', async () => {
    const world = new World();
    world.subscribe(0);
    await quiet();
    world.room = 2;

    world.commit(5);
    world.commit(1);
    world.say('late');

    expect(world.got).toEqual([1, 2, 'gap after 2']);
  });

  test('is told in the middle of the past too', async () => {
    const world = new World();
    world.commit(9);
    world.room = 4;

    world.subscribe(0);
    await quiet();

    expect(world.got).toEqual([1, 2, 3, 4, 'gap after 4']);
  });

  test('is told when it is live events that it can not take', async () => {
    const world = new World();
    world.commit(1);
    world.subscribe(0);
    await quiet();
    world.room = 1;

    world.say('too much');

    expect(world.got).toEqual([1, 'gap after 1']);
  });

  test('may subscribe again from there, and misses nothing', async () => {
    const world = new World();
    world.commit(9);
    world.room = 4;
    world.subscribe(0);
    await quiet();

    world.got.length = 0;
    world.room = Infinity;
    world.subscribe(4);
    await quiet();

    expect(world.got).toEqual(upTo(9, 5));
  });

  test('harms nobody else', async () => {
    const world = new World();
    world.subscribe(0);
    await quiet();
    const others: number[] = [];
    world.hub.listen(aSessionId, { live: () => undefined, durable: (events) => others.push(events.length) });
    world.room = 0;

    world.commit(2);

    expect(others).toEqual([2]);
  });
});

describe('a subscription that is closed', () => {
  test('hears nothing more', async () => {
    const world = new World();
    const subscription = world.subscribe(0);
    await quiet();
    subscription.close();

    world.commit(1);
    world.say('late');

    expect(world.got).toEqual([]);
  });

  test('while a page is read gets nothing of it', async () => {
    const world = new World();
    world.commit(5);
    const subscription = world.subscribe(0);

    subscription.close();
    await quiet();
    world.commit(1);

    expect(world.got).toEqual([]);
  });

  test('by its receiver, in the middle of what it is given, gets nothing more', async () => {
    const world = new World();
    world.commit(5);
    const subscription = world.subscribe(0);
    world.onDurable = ({ seq }) => {
      if (seq === 2) subscription.close();
    };

    await quiet();
    world.commit(2);

    expect(world.got).toEqual([1, 2]);
  });

  test('by its receiver, in the middle of one commit, gets nothing more', async () => {
    const world = new World();
    const subscription = world.subscribe(0);
    await quiet();
    world.onDurable = ({ seq }) => {
      if (seq === 2) subscription.close();
    };

    world.commit(4);

    expect(world.got).toEqual([1, 2]);
  });

  test('leaves nobody listening', async () => {
    const world = new World();
    const subscription = world.subscribe(0);

    subscription.close();

    expect(world.hub.hasListeners(aSessionId)).toBe(false);
  });
});

describe('a session that is deleted', () => {
  test('S4: is told as deleted to a receiver that has everything, and to one that missed what is gone', async () => {
    const world = new World();
    world.commit(3);
    world.subscribe(3);
    await quiet();
    world.commit(2, { published: false });

    world.delete();

    expect(world.got).toEqual([6]);
  });

  // A process that has lost its home still took the session for living, and its client came back for ever.
  test('S4: is told as deleted, and not as a gap, to a receiver that begins after it', async () => {
    const world = new World();
    world.commit(5);
    world.delete({ published: false });

    world.subscribe(0);
    await quiet();

    expect(world.got).toEqual([6]);
  });

  test('S4: while its past is read is told as deleted, once', async () => {
    const world = new World();
    world.commit(9);
    world.beforeRead = async (afterSeq) => {
      if (afterSeq === 3) world.delete();
    };

    world.subscribe(0);
    await quiet();

    expect(world.got).toEqual([1, 2, 3, 10]);
  });

  test('S4: leaves nobody listening', async () => {
    const world = new World();
    world.subscribe(0);
    await quiet();

    world.delete();
    world.say('late');

    expect(world.got).toEqual([1]);
    expect(world.hub.hasListeners(aSessionId)).toBe(false);
  });
});

test('a log that can not be read ends the subscription, with the place where it stopped', async () => {
  const world = new World();
  world.commit(5);
  world.beforeRead = async (afterSeq) => {
    if (afterSeq >= 3) throw new Error('The disk is gone.');
  };

  world.subscribe(0);
  await quiet();
  world.commit(1);

  expect(world.got).toEqual([1, 2, 3, 'gap after 3']);
  expect(world.errors).toEqual([new Error('The disk is gone.')]);
});
