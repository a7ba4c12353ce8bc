import { describe, expect, test } from 'vitest';
import { StorageError } from '../../../../src/core/ports/ledger.ts';
import { aDraft } from '../../../support/builders.ts';
import * as commands from '../../../support/commands.ts';
import { done, quiet } from '../../../support/memory-gateway.ts';
import { anActor, typesOf } from './an-actor.ts';

const trouble = (kind: StorageError['kind']) => new StorageError(kind, `The storage says ${kind}.`);
const notStored = { kind: 'unavailable', outcomeUnknown: false };
const outcomeUnknown = { kind: 'unavailable', outcomeUnknown: true };

describe.each(['full', 'busy'] as const)('while the storage is %s', (kind) => {
  test.each([
    ['submit', commands.submit(2)],
    ['cancel', commands.cancel(1)],
    ['hold', commands.hold()],
  ])('a client’s %s is refused at once, and nothing was stored', async (_kind, command) => {
    const { actor, ledger, commits } = await anActor();
    await actor.send(commands.submit(1));
    ledger.failNext('append', trouble(kind));

    expect(await actor.send(command)).toEqual(notStored);
    expect(typesOf(commits)).toEqual([['admission.queued']]);
  });

  test('a known id has its receipt, whether its prompt waits or has ended', async () => {
    const { actor, ledger } = await anActor();
    await actor.send(commands.submit(1));
    await actor.send(commands.submit(2));
    await actor.send(commands.cancel(1));
    ledger.failNext('append', trouble(kind));

    const answers = await Promise.all([1, 2, 3].map((n) => actor.send(commands.submit(n))));

    expect(answers).toMatchObject([
      { kind: 'done', reply: { duplicate: true, admission: { outcome: 'cancelled' } } },
      { kind: 'done', reply: { duplicate: true, admission: { status: 'queued' } } },
      notStored,
    ]);
  });

  test('a client that tries again later is served', async () => {
    const { actor, ledger } = await anActor();
    ledger.failNext('append', trouble(kind));
    await actor.send(commands.submit(1));

    expect(done(await actor.send(commands.submit(1)))).toMatchObject({ duplicate: false });
  });

  test('the work of a turn is tried again until it is stored, with longer and longer pauses', async () => {
    const { actor, ledger, clock, storage } = await anActor();
    await actor.send(commands.submit(1));
    const { executionGeneration } = done(await actor.send(commands.claim(1, aDraft())));
    ledger.failNext('append', ...Array.from({ length: 7 }, () => trouble(kind)));
    const triesAt: number[] = [];
    const before = ledger.appends.length;

    const settled = actor.send(commands.settle({ executionGeneration }));
    for (let elapsedMs = 0; elapsedMs < 8000; elapsedMs += 50) {
      await quiet();
      while (triesAt.length < ledger.appends.length - before) triesAt.push(elapsedMs);
      await clock.advance(50);
    }

    expect(done(await settled)).toEqual({ outcome: 'completed' });
    expect(triesAt).toEqual([0, 100, 300, 700, 1500, 3100, 5100, 7100]);
    expect(storage).toEqual([...Array.from({ length: 7 }, () => 'retrying'), 'ok']);
  });

  test('work that is refused when it is tried again has an end too', async () => {
    const world = await anActor();
    const { actor, ledger, clock, storage } = world;
    await actor.send(commands.submit(1));
    ledger.failNext('append', trouble(kind));
    const claimed = actor.send(commands.claim(1));
    await quiet();
    await world.another().actor.send(commands.hold());

    await clock.advance(1000);

    expect((await claimed).kind).toBe('refused');
    expect(storage).toEqual(['retrying', 'ok']);
  });

  test('work that is given up says nothing more of the storage', async () => {
    const { actor, ledger, clock, storage } = await anActor();
    await actor.send(commands.submit(1));
    ledger.failNext('append', trouble(kind));
    let commit: () => void = () => undefined;
    ledger.beforeNext('append', () => new Promise<void>((resolve) => (commit = resolve)));
    const claimed = actor.send(commands.claim(1));
    await clock.advance(100);

    actor.halt();
    commit();

    expect((await claimed).kind).toBe('done');
    expect(storage).toEqual(['retrying']);
  });

  test('clients that were decided together with a turn’s work are refused, and the work goes on without them', async () => {
    const { actor, ledger, clock, commits } = await anActor();
    await actor.send(commands.submit(1));
    const { executionGeneration } = done(await actor.send(commands.claim(1, aDraft())));
    ledger.failNext('append', trouble(kind));

    const settled = actor.send(commands.settle({ executionGeneration }));
    const submitted = actor.send(commands.submit(2));

    expect(await submitted).toEqual(notStored);
    await clock.advance(1000);
    expect(done(await settled)).toEqual({ outcome: 'completed' });
    expect(typesOf(commits).at(-1)).toEqual(['message.appended', 'turn.settled']);
  });

  test('work that is tried again comes before everything that was sent after it', async () => {
    const { actor, ledger, clock, commits } = await anActor();
    await actor.send(commands.submit(1));
    ledger.failNext('append', trouble(kind));

    const claimed = actor.send(commands.claim(1));
    await quiet();
    const held = actor.send(commands.hold());
    await clock.advance(1000);

    expect((await claimed).kind).toBe('done');
    expect((await held).kind).toBe('done');
    expect(typesOf(commits).at(-1)).toEqual(['turn.started', 'session.held']);
  });

  test('a session that could not be loaded is loaded for the next command', async () => {
    const world = await anActor();
    const { actor, ledger } = world.another();
    ledger.failNext('load', trouble(kind));

    expect(await actor.send(commands.submit(1))).toEqual(notStored);
    expect((await actor.send(commands.submit(1))).kind).toBe('done');
  });

  test('the process goes on', async () => {
    const { actor, ledger, fatal } = await anActor();
    ledger.failNext('append', trouble(kind));
    await actor.send(commands.submit(1));

    expect(fatal).toEqual([]);
  });
});

describe.each(['io', 'corrupt'] as const)('when the storage fails with %s', (kind) => {
  test('everybody hears that the outcome is unknown: those in the append, those that wait, those that come later', async () => {
    const { actor, ledger } = await anActor();
    let waiting: Promise<unknown> = Promise.resolve();
    ledger.beforeNext('append', async () => {
      waiting = actor.send(commands.submit(3));
      throw trouble(kind);
    });

    const inAppend = await Promise.all([actor.send(commands.submit(1)), actor.send(commands.interrupt(1))]);

    expect(inAppend).toEqual([outcomeUnknown, outcomeUnknown]);
    expect(await waiting).toEqual(outcomeUnknown);
    expect(await actor.send(commands.submit(4))).toEqual(outcomeUnknown);
  });

  test('nothing is tried again, not even the work of a turn', async () => {
    const { actor, ledger, clock, commits } = await anActor();
    await actor.send(commands.submit(1));
    ledger.failNext('append', trouble(kind));

    expect(await actor.send(commands.claim(1))).toEqual(outcomeUnknown);
    await clock.advance(60_000);

    expect(ledger.appends).toHaveLength(2);
    expect(typesOf(commits)).toEqual([['admission.queued']]);
  });

  test('the process is told to stop, once', async () => {
    const { actor, ledger, fatal } = await anActor();
    const error = trouble(kind);
    ledger.failNext('append', error);

    await actor.send(commands.submit(1));
    await actor.send(commands.submit(2));

    expect(fatal).toEqual([{ kind: 'storage', error }]);
  });

  test('a load that fails is as bad', async () => {
    const world = await anActor();
    const { actor, ledger, fatal } = world.another();
    ledger.failNext('load', trouble(kind));

    expect(await actor.send(commands.submit(1))).toEqual(outcomeUnknown);
    expect(fatal).toHaveLength(1);
  });
});

describe('when another owner has taken the store over', () => {
  test('nothing more is decided, and the process is told to stop', async () => {
    const { actor, ledger, fatal, commits } = await anActor();
    await ledger.takeOwnership({ instanceId: 'instance-2', now: '2030-01-01T00:00:00.000Z' });

    expect(await actor.send(commands.submit(1))).toEqual(outcomeUnknown);
    expect(await actor.send(commands.receipt(1))).toEqual(outcomeUnknown);
    expect(fatal).toEqual([{ kind: 'superseded', epoch: 2 }]);
    expect(commits).toEqual([]);
  });
});

describe('when this program has a bug', () => {
  test('everybody that waits is answered, and the process is told to stop', async () => {
    const { actor, fatal } = await anActor();
    await actor.send(commands.submit(1));
    const { executionGeneration } = done(await actor.send(commands.claim(1, aDraft())));
    const answers: unknown[] = [];

    // A second dispatch of one turn is an invariant violation.
    for (const command of [commands.hold(), commands.dispatch(1, executionGeneration), commands.submit(2)]) {
      void actor.send(command).then((answer) => answers.push(answer));
    }
    await quiet();

    expect(answers).toEqual([outcomeUnknown, outcomeUnknown, outcomeUnknown]);
    expect(fatal).toMatchObject([{ kind: 'bug', error: { name: 'InvariantViolation' } }]);
  });

  test('that shows only while the storage fails too, it is no less told', async () => {
    const { actor, ledger, fatal } = await anActor();
    ledger.failNext('findAdmission', trouble('busy'), new Error('A bug.'));

    expect(await actor.send(commands.cancel(1))).toEqual(outcomeUnknown);
    expect(await actor.send(commands.submit(2))).toEqual(outcomeUnknown);
    expect(fatal).toEqual([{ kind: 'bug', error: new Error('A bug.') }]);
  });

  test('nothing of the round was stored', async () => {
    const { actor, ledger } = await anActor();
    await actor.send(commands.submit(1));
    const { executionGeneration } = done(await actor.send(commands.claim(1, aDraft())));
    const before = ledger.appends.length;

    void actor.send(commands.hold());
    void actor.send(commands.dispatch(1, executionGeneration));
    await quiet();

    expect(ledger.appends).toHaveLength(before);
  });
});

describe('what is too large to be handed to the storage', () => {
  const tooLarge = { kind: 'refused', refusal: { reason: 'too_large' } };

  test('is refused alone: what was decided with it is stored, in the order in which it came', async () => {
    const { actor, ledger, commits, fatal } = await anActor();
    ledger.failNext('append', trouble('too_large'));
    ledger.beforeNext('append', async () => undefined);
    ledger.failNext('append', trouble('too_large'));

    const answers = await Promise.all([1, 2, 3].map((n) => actor.send(commands.submit(n))));

    expect(answers).toMatchObject([{ kind: 'done' }, tooLarge, { kind: 'done' }]);
    expect(typesOf(commits)).toEqual([['admission.queued'], ['admission.queued']]);
    expect(ledger.appends.map(({ events }) => events.length)).toEqual([3, 1, 1, 1]);
    expect(fatal).toEqual([]);
  });

  test('is not tried again for a turn either', async () => {
    const { actor, ledger, storage, fatal } = await anActor();
    await actor.send(commands.submit(1));
    const { executionGeneration } = done(await actor.send(commands.claim(1, aDraft())));
    ledger.failNext('append', trouble('too_large'));

    expect(await actor.send(commands.settle({ executionGeneration }))).toEqual(tooLarge);
    expect(done(await actor.send(commands.settle({ executionGeneration })))).toEqual({ outcome: 'completed' });
    expect([storage, fatal]).toEqual([[], []]);
  });

  test('leaves the commands behind it to be decided together again', async () => {
    const { actor, ledger } = await anActor();
    ledger.failNext('append', trouble('too_large'));
    await Promise.all([1, 2].map((n) => actor.send(commands.submit(n))));
    ledger.appends.length = 0;

    await Promise.all([3, 4].map((n) => actor.send(commands.submit(n))));

    expect(ledger.appends.map(({ events }) => events.length)).toEqual([2]);
  });
});

describe('a round of commands', () => {
  test.each([
    ['few large ones', [600_000, 600_000, 600_000], [1, 1, 1]],
    ['one that is larger than a round', [10, 3_000_000, 10, 10], [1, 1, 2]],
    ['many small ones', Array.from({ length: 300 }, () => 10), [256, 44]],
  ])('is bounded by number and by size: %s', async (_what, sizes, rounds) => {
    const { actor, ledger } = await anActor();

    const submit = (size: number, n: number) => {
      const command = commands.submit(n + 1);
      return { ...command, payload: { text: 'x'.repeat(size), parts: null } };
    };
    await Promise.all(sizes.map((size, n) => actor.send(submit(size, n))));

    expect(ledger.appends.map(({ events }) => events.length)).toEqual(rounds);
  });
});
