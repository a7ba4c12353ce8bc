import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/adapters/outbound/memory/fake-clock.ts';

describe('the fake clock', () => {
  test('stands still until it is moved, and moves both of its hands', async () => {
    const clock = new FakeClock('2030-01-01T00:00:00.000Z');
    expect([clock.now(), clock.monotonicMs()]).toEqual(['2030-01-01T00:00:00.000Z', 0]);

    await clock.advance(1_500);

    expect([clock.now(), clock.monotonicMs()]).toEqual(['2030-01-01T00:00:01.500Z', 1_500]);
  });

  test('can be set to any wall time, which no sleep notices', async () => {
    const clock = new FakeClock('2030-01-01T00:00:00.000Z');
    let awake = false;
    void clock.sleep(1_000).then(() => (awake = true));

    clock.set('2031-01-01T00:00:00.000Z');
    await clock.advance(999);
    expect([clock.now(), awake]).toEqual(['2031-01-01T00:00:00.999Z', false]);

    clock.set('2020-01-01T00:00:00.000Z');
    await clock.advance(1);
    expect([clock.now(), awake]).toEqual(['2020-01-01T00:00:00.001Z', true]);
  });

  test('ends sleeps in order, each at its own instant, also those that begin meanwhile', async () => {
    const clock = new FakeClock();
    const log: string[] = [];
    const sleepy = async (name: string, ...naps: readonly number[]): Promise<void> => {
      for (const ms of naps) {
        await clock.sleep(ms);
        log.push(`${name} ${clock.monotonicMs()}`);
      }
    };
    void sleepy('a', 30, 30);
    void sleepy('b', 20, 20, 20);
    void sleepy('c', 20, 1_000);

    await clock.advance(60);

    expect(log).toEqual(['b 20', 'c 20', 'a 30', 'b 40', 'a 60', 'b 60']);
    expect(clock.sleeping).toBe(1);
  });

  test('lets what a sleep wakes run before it goes on', async () => {
    const clock = new FakeClock();
    const log: string[] = [];
    void clock.sleep(10).then(async () => {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      log.push(`woken ${clock.monotonicMs()}`);
    });

    await clock.advance(1_000);

    expect(log).toEqual(['woken 10']);
  });

  test('ends a sleep at once when its signal aborts, and forgets it', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const sleep = clock.sleep(1_000, controller.signal);
    expect(clock.sleeping).toBe(1);

    controller.abort();
    await sleep;
    await clock.sleep(1_000, controller.signal);

    expect([clock.monotonicMs(), clock.sleeping]).toEqual([0, 0]);
  });

  test('does not sleep for no time', async () => {
    const clock = new FakeClock();

    await clock.sleep(0);
    await clock.sleep(-1);

    expect(clock.monotonicMs()).toBe(0);
  });

  test('can be moved from one sleep to the next by hand', async () => {
    const clock = new FakeClock();
    const sleeps = [clock.sleep(20), clock.sleep(10)];

    expect([clock.wakeNext(), clock.monotonicMs()]).toEqual([true, 10]);
    expect([clock.wakeNext(), clock.monotonicMs()]).toEqual([true, 20]);
    expect(clock.wakeNext()).toBe(false);
    await Promise.all(sleeps);
  });

  test('refuses what is no instant', () => {
    expect(() => new FakeClock('yesterday')).toThrow(RangeError);
  });
});
