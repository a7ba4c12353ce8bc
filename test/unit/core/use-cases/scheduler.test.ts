import { describe, expect, test } from 'vitest';
import type { SessionState } from '../../../../src/core/domain/session/state.ts';
import { Scheduler } from '../../../../src/core/use-cases/scheduler.ts';
import { quiet } from '../../../support/memory-gateway.ts';
import { stateAfter } from '../../../support/given.ts';
import { created, held, lost, prompted, queued, settled, started } from '../../../support/history.ts';

/** A scheduler whose turns end when the test says so. */
class World {
  /** Every session whose turn was started, in order. */
  readonly started: string[] = [];
  readonly bugs: unknown[] = [];
  readonly scheduler: Scheduler;
  readonly #ends = new Map<string, { end: () => void; fail: (error: unknown) => void }>();

  constructor(options: { maxConcurrentTurns?: number } = {}) {
    this.scheduler = new Scheduler({
      maxConcurrentTurns: options.maxConcurrentTurns ?? 16,
      runTurn: (sessionId) => {
        this.started.push(sessionId);
        return new Promise((end, fail) => this.#ends.set(sessionId, { end, fail }));
      },
      onBug: (error) => this.bugs.push(error),
    });
  }

  /** What a commit tells the scheduler. */
  commit(sessionId: string, state: SessionState): this {
    this.scheduler.consider(sessionId, state);
    return this;
  }

  async end(sessionId: string): Promise<void> {
    this.#ends.get(sessionId)?.end();
    await quiet();
  }

  async fail(sessionId: string, error: unknown): Promise<void> {
    this.#ends.get(sessionId)?.fail(error);
    await quiet();
  }
}

const waiting = (seq = 1) => stateAfter(created(), queued(seq));
const running = () => stateAfter(created(), queued(1), started(1), prompted(1));
const empty = () => stateAfter(created(), queued(1), started(1), prompted(1), settled(1));
const waitingAgain = () => stateAfter(created(), queued(1), started(1), prompted(1), settled(1), queued(2));

describe('a session', () => {
  test('whose queue can run is run', () => {
    const { scheduler, started } = runningWorld().commit('a', waiting());

    expect(started).toEqual(['a']);
    expect(scheduler.runningSessions).toEqual(['a']);
  });

  test.each([
    ['that has nothing to do', stateAfter(created())],
    ['that is held', stateAfter(created(), queued(1), held())],
    [
      'that waits for somebody’s decision',
      stateAfter(created(), queued(1), started(1), prompted(1), lost(1), queued(2)),
    ],
    ['that runs already', running()],
  ])('%s is not', (_what, state) => {
    expect(runningWorld().commit('a', state).started).toEqual([]);
  });

  test('D1: has one turn at a time, however often it commits', () => {
    const world = runningWorld();

    world
      .commit('a', waiting())
      .commit('a', stateAfter(created(), queued(1), queued(2)))
      .commit('a', running());

    expect(world.started).toEqual(['a']);
  });

  test('D4: is run again when its turn has ended and somebody waits', async () => {
    const world = runningWorld().commit('a', waiting()).commit('a', running()).commit('a', waitingAgain());
    expect(world.started).toEqual(['a']);

    await world.end('a');

    expect(world.started).toEqual(['a', 'a']);
  });

  test('D4: is not run again when nobody waits', async () => {
    const world = runningWorld().commit('a', waiting()).commit('a', empty());

    await world.end('a');

    expect(world.started).toEqual(['a']);
    expect(world.scheduler.runningSessions).toEqual([]);
  });

  test('D4: loses no prompt, at whatever microtask of the turn’s end it comes', async () => {
    for (let later = 0; later < 12; later += 1) {
      const world = runningWorld().commit('a', waiting()).commit('a', empty());
      const ended = world.end('a');
      for (let microtask = 0; microtask < later; microtask += 1) await Promise.resolve();
      world.commit('a', waitingAgain());
      await ended;

      expect([later, world.started]).toEqual([later, ['a', 'a']]);
    }
  });

  test('that was held while it waited for a place is not run when there is one', async () => {
    const world = runningWorld({ maxConcurrentTurns: 1 }).commit('a', waiting(1)).commit('b', waiting(2));
    world.commit('b', stateAfter(created(), queued(2), held())).commit('a', empty());

    await world.end('a');

    expect(world.started).toEqual(['a']);
    expect(world.scheduler.waitingSessions).toBe(0);
  });
});

describe('D2: places', () => {
  test('are limited, and who waits is counted', () => {
    const world = runningWorld({ maxConcurrentTurns: 2 });

    world.commit('a', waiting(1)).commit('b', waiting(2)).commit('c', waiting(3));

    expect(world.started).toEqual(['a', 'b']);
    expect(world.scheduler.waitingSessions).toBe(1);
  });

  test('are given on when a turn ends', async () => {
    const world = runningWorld({ maxConcurrentTurns: 1 }).commit('a', waiting(1)).commit('b', waiting(2));
    world.commit('a', empty());

    await world.end('a');

    expect(world.started).toEqual(['a', 'b']);
  });

  test('a blocked session takes none from the others', () => {
    const world = runningWorld({ maxConcurrentTurns: 1 });

    world.commit('a', stateAfter(created(), queued(1), held())).commit('b', waiting(2));

    expect(world.started).toEqual(['b']);
  });
});

describe('D3: the oldest waiting prompt comes first', () => {
  test('whoever told of it last', async () => {
    const world = runningWorld({ maxConcurrentTurns: 1 }).commit('a', waiting(1));
    world.commit('c', waiting(9)).commit('b', waiting(5)).commit('a', empty());

    await world.end('a');

    expect(world.started).toEqual(['a', 'b']);
  });

  test('also before the next prompt of the session that has just run', async () => {
    const world = runningWorld({ maxConcurrentTurns: 1 }).commit('a', waiting(1)).commit('b', waiting(2));
    world.commit('a', stateAfter(created(), queued(1), started(1), prompted(1), settled(1), queued(3)));

    await world.end('a');
    world.commit('b', empty());
    await world.end('b');

    expect(world.started).toEqual(['a', 'b', 'a']);
  });

  test('by the head of a queue and not by its newest prompt', () => {
    const world = new World({ maxConcurrentTurns: 1 });
    world.commit('a', waiting(3)).commit('b', stateAfter(created(), queued(2), queued(9)));

    world.scheduler.start();

    expect(world.started).toEqual(['b']);
  });
});

describe('starting and stopping', () => {
  test('nothing runs before the start; then everything that waits does', () => {
    const world = new World().commit('a', waiting(1)).commit('b', waiting(2));
    expect(world.started).toEqual([]);

    world.scheduler.start();

    expect(world.started).toEqual(['a', 'b']);
  });

  test('after a stop nothing is started, not even a follower of what still runs', async () => {
    const world = runningWorld().commit('a', waiting());

    world.scheduler.stop();
    world.commit('b', waiting(2)).commit('a', waitingAgain());
    await world.end('a');

    expect(world.started).toEqual(['a']);
  });

  test('idle resolves when the last turn has ended', async () => {
    const world = runningWorld()
      .commit('a', waiting(1))
      .commit('b', waiting(2))
      .commit('a', empty())
      .commit('b', empty());
    let idle = false;
    void world.scheduler.idle().then(() => (idle = true));

    await world.end('a');
    expect(idle).toBe(false);
    await world.end('b');
    expect(idle).toBe(true);
  });

  test('idle resolves at once when nothing runs', async () => {
    await expect(new World().scheduler.idle()).resolves.toBeUndefined();
  });

  test('idle waits for a follower that starts meanwhile', async () => {
    const world = runningWorld().commit('a', waiting()).commit('a', waitingAgain());
    let idle = false;
    void world.scheduler.idle().then(() => (idle = true));

    await world.end('a');

    expect(idle).toBe(false);
  });
});

test('a turn that rejects is a bug, and it is told', async () => {
  const world = runningWorld().commit('a', waiting());

  await world.fail('a', 'a bug');

  expect(world.bugs).toEqual(['a bug']);
  expect(world.scheduler.runningSessions).toEqual([]);
});

function runningWorld(options: ConstructorParameters<typeof World>[0] = {}): World {
  const world = new World(options);
  world.scheduler.start();
  return world;
}
