import { describe, expect, test } from 'vitest';
import { MemoryStore } from '../../../../src/adapters/outbound/memory/memory-store.ts';
import type { Command } from '../../../../src/core/domain/session/commands.ts';
import { aDraft, anAnswer, aProfile } from '../../../support/builders.ts';
import * as commands from '../../../support/commands.ts';
import { done, quiet } from '../../../support/memory-gateway.ts';
import { anActor, typesOf } from './an-actor.ts';
import type { ActorWorld } from './an-actor.ts';

/** Runs the head of the queue from its claim to its answer. */
async function runTurn({ actor }: ActorWorld, n: number): Promise<void> {
  const claim: Command<'claim'> = commands.claim(n, aDraft({ admissionId: `admission-${String(n)}` }));
  const { executionGeneration } = done(await actor.send(claim));
  done(await actor.send(commands.settle({ executionGeneration, answer: anAnswer() })));
  await quiet();
}

describe('commands that are sent together', () => {
  test('share one append, in the order in which they came', async () => {
    const { actor, ledger, commits } = await anActor();

    await Promise.all([actor.send(commands.submit(1)), actor.send(commands.hold()), actor.send(commands.submit(2))]);

    expect(ledger.appends).toHaveLength(1);
    expect(typesOf(commits)).toEqual([['admission.queued', 'session.held', 'admission.queued']]);
  });

  test('see what those before them have decided', async () => {
    const { actor } = await anActor();

    const [first, second, repeat] = await Promise.all([
      actor.send(commands.submit(1)),
      actor.send(commands.submit(2)),
      actor.send(commands.submit(1, { admissionId: 'another-id' })),
    ]);

    expect(done(first)).toMatchObject({ ahead: 0, duplicate: false });
    expect(done(second)).toMatchObject({ ahead: 1, duplicate: false });
    expect(done(repeat)).toEqual({ ...done(first), duplicate: true });
  });

  test('share an append with those that are refused, which change nothing', async () => {
    const { actor, commits } = await anActor();

    const [refused, accepted] = await Promise.all([actor.send(commands.interrupt(7)), actor.send(commands.submit(1))]);

    expect(refused).toEqual({ kind: 'refused', refusal: { reason: 'stale_generation', executionGeneration: 0 } });
    expect(accepted.kind).toBe('done');
    expect(typesOf(commits)).toEqual([['admission.queued']]);
  });

  test('are bounded: more than 256 make a second append', async () => {
    const { actor, commits } = await anActor();

    await Promise.all(Array.from({ length: 300 }, (_, n) => actor.send(commands.submit(n))));

    expect(commits.map((events) => events.length)).toEqual([256, 44]);
  });
});

test('commands that come while an append runs form the next one', async () => {
  const { actor, ledger, commits } = await anActor();
  let late: readonly Promise<unknown>[] = [];
  ledger.beforeNext('append', async () => {
    late = [actor.send(commands.submit(2)), actor.send(commands.submit(3))];
  });

  await actor.send(commands.submit(1));
  await Promise.all(late);

  expect(commits.map((events) => events.length)).toEqual([1, 2]);
});

test('a command that changes nothing is answered without an append', async () => {
  const { actor, ledger, commits } = await anActor();

  expect(await actor.send(commands.release)).toEqual({ kind: 'done', reply: { revision: 1 } });

  expect([ledger.appends, commits]).toEqual([[], []]);
});

test('what is sent to a session that does not exist is refused, and nothing is stored', async () => {
  const { actor, ledger } = await anActor({ create: false });

  expect(await actor.send(commands.submit(1))).toEqual({
    kind: 'refused',
    refusal: { reason: 'not_found', what: 'session' },
  });
  expect(ledger.appends).toEqual([]);
});

describe('an answer', () => {
  test('comes after the commit and after everybody was told of it', async () => {
    const { actor, ledger, commits } = await anActor();
    const order: string[] = [];
    let open = (): void => undefined;
    ledger.beforeNext('append', () => new Promise<void>((resolve) => (open = resolve)));

    const answered = actor.send(commands.submit(1)).then(() => order.push(`answered after ${String(commits.length)}`));
    await quiet();
    order.push(`waiting after ${String(commits.length)}`);
    open();
    await answered;

    expect(order).toEqual(['waiting after 0', 'answered after 1']);
  });

  test('comes to every command, however its sender goes on: none is left in the mailbox', async () => {
    const { actor } = await anActor();
    const unanswered: number[] = [];

    for (let later = 0; later < 12; later += 1) {
      await actor.send(commands.hold());
      for (let microtask = 0; microtask < later; microtask += 1) await Promise.resolve();
      let answered = false;
      void actor.send(commands.release).then(() => (answered = true));
      await quiet();
      if (!answered) unanswered.push(later);
    }

    expect(unanswered).toEqual([]);
  });
});

describe('when somebody else has appended', () => {
  test('a stale append is evolved and decided again, and loses nothing', async () => {
    const one = await anActor();
    const other = one.another();
    await other.actor.state();
    await one.actor.send(commands.submit(1));

    const receipt = await other.actor.send(commands.submit(2));

    expect(done(receipt)).toMatchObject({ ahead: 1 });
    expect(other.ledger.appends.map(({ expectedSeq }) => expectedSeq)).toEqual([1, 2]);
  });

  test('what was missed is told before what was decided, each once', async () => {
    const one = await anActor();
    const other = one.another();
    await other.actor.state();
    await one.actor.send(commands.submit(1));
    await one.actor.send(commands.hold());

    await other.actor.send(commands.submit(2));

    expect(other.commits.map((events) => events.map(({ seq, type }) => [seq, type]))).toEqual([
      [
        [2, 'admission.queued'],
        [3, 'session.held'],
      ],
      [[4, 'admission.queued']],
    ]);
  });

  test('a command may be decided otherwise than at first', async () => {
    const one = await anActor();
    const other = one.another();
    await one.actor.send(commands.submit(1));
    await other.actor.state();
    await one.actor.send(commands.cancel(1));

    expect(await other.actor.send(commands.claim(1))).toEqual({
      kind: 'refused',
      refusal: { reason: 'not_claimable' },
    });
  });

  // It took the prompt for an ended one, and the event that it decided contradicted its own state.
  test.each([
    ['cancel', commands.cancel(1)],
    ['edit', commands.edit(1)],
    ['receipt', commands.receipt(1)],
    ['submit', commands.submit(1)],
    ['move', commands.move(1)],
  ])('a %s of a prompt that only the other knows is decided on what the other has stored', async (kind, command) => {
    const one = await anActor();
    const other = one.another();
    await other.actor.state();
    await one.actor.send(commands.submit(1));

    expect(await other.actor.send(command)).toMatchObject({ kind: 'done' });
    expect(other.fatal).toEqual([]);
    expect((await other.actor.state())?.open).toHaveLength(kind === 'cancel' ? 0 : 1);
  });

  test('two writers that race leave one gapless log with both in it', async () => {
    const one = await anActor();
    const other = one.another();
    await other.actor.state();

    const all = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : other).actor.send(commands.submit(n)));
    const receipts = (await Promise.all(all)).map(done);

    const state = await one.another().actor.state();
    expect(state?.seq).toBe(21);
    expect(state?.open.map(({ admissionId }) => admissionId).toSorted()).toEqual(
      receipts.map(({ admission }) => admission.admissionId).toSorted(),
    );
  });
});

describe('a prompt that has ended', () => {
  test('is noticed by the ledger when it comes again, and its first receipt is the answer', async () => {
    const world = await anActor();
    const first = done(await world.actor.send(commands.submit(1)));
    await runTurn(world, 1);

    const again = done(await world.actor.send(commands.submit(1, { admissionId: 'another-id' })));

    expect(again).toMatchObject({
      duplicate: true,
      ahead: 0,
      admission: { admissionId: first.admission.admissionId, seq: first.admission.seq, outcome: 'completed' },
    });
    expect((await world.actor.state())?.open).toEqual([]);
  });

  test('is a conflict when it comes again with other content', async () => {
    const world = await anActor();
    await world.actor.send(commands.submit(1));
    await runTurn(world, 1);

    const again = await world.actor.send(commands.submit(1, { requestDigest: 'another-digest' }));

    expect(again).toMatchObject({ kind: 'refused', refusal: { reason: 'admission_conflict' } });
  });

  test('does not keep the prompts that were sent with it from being taken', async () => {
    const world = await anActor();
    await world.actor.send(commands.submit(1));
    await runTurn(world, 1);

    const [again, fresh] = await Promise.all([
      world.actor.send(commands.submit(1)),
      world.actor.send(commands.submit(2)),
    ]);

    expect(done(again)).toMatchObject({ duplicate: true });
    expect(done(fresh)).toMatchObject({ duplicate: false, ahead: 0 });
  });

  test('is read for its receipt', async () => {
    const world = await anActor();
    await world.actor.send(commands.submit(1));
    await runTurn(world, 1);

    expect(done(await world.actor.send(commands.receipt(1)))).toMatchObject({ admission: { outcome: 'completed' } });
  });
});

test('a repeated retry whose new prompt the store has lost is not found, and the session goes on', async () => {
  const { store, executionGeneration } = await withUnknownTurn();
  const { actor, ledger, fatal } = await anActor({ create: false, store });
  const resolve = commands.resolveUnknown(1, { executionGeneration, action: 'retry' });
  const key = { admissionId: resolve.retryAdmissionId };
  await actor.send(commands.recover());
  await actor.send(resolve);
  await actor.send(commands.cancel(1, { key }));
  const stored = ledger.findAdmission;
  ledger.findAdmission = async (sessionId, wanted) => {
    const admission = await stored(sessionId, wanted);
    return admission?.admissionId === key.admissionId ? null : admission;
  };

  const [repeat, submitted] = await answersOf([actor.send(resolve), actor.send(commands.submit(2))]);

  expect(repeat).toEqual({ kind: 'refused', refusal: { reason: 'not_found', what: 'admission' } });
  expect(submitted).toMatchObject({ kind: 'done' });
  expect(fatal).toEqual([]);
});

test('a prompt that never was is not found', async () => {
  const { actor } = await anActor();

  expect(await actor.send(commands.receipt(1))).toEqual({
    kind: 'refused',
    refusal: { reason: 'not_found', what: 'admission' },
  });
});

describe('two commands for one admission in the same round: the second sees what the first did', () => {
  test('cancelling twice is cancelling once', async () => {
    const { actor, commits, fatal } = await anActor();
    await actor.send(commands.submit(1));

    const both = await answersOf([actor.send(commands.cancel(1)), actor.send(commands.cancel(1))]);

    expect(both).toMatchObject([
      { kind: 'done', reply: { admission: { outcome: 'cancelled' } } },
      { kind: 'done', reply: { admission: { outcome: 'cancelled' } } },
    ]);
    expect(
      typesOf(commits)
        .flat()
        .filter((type) => type === 'admission.cancelled'),
    ).toHaveLength(1);
    expect(fatal).toEqual([]);
  });

  test('a receipt after a cancellation says so', async () => {
    const { actor } = await anActor();
    await actor.send(commands.submit(1));

    const [, receipt] = await answersOf([actor.send(commands.cancel(1)), actor.send(commands.receipt(1))]);

    expect(receipt).toMatchObject({ kind: 'done', reply: { admission: { status: 'terminal', outcome: 'cancelled' } } });
  });

  test('a repeated prompt after its cancellation gets the receipt of the cancelled one', async () => {
    const { actor } = await anActor();
    await actor.send(commands.submit(1));

    const [, repeat] = await answersOf([actor.send(commands.cancel(1)), actor.send(commands.submit(1))]);

    expect(repeat).toMatchObject({ kind: 'done', reply: { duplicate: true, admission: { outcome: 'cancelled' } } });
  });

  test('a prompt that is new, cancelled and sent again at once is one admission, and it is cancelled', async () => {
    const { actor, fatal } = await anActor();

    const answers = await answersOf([
      actor.send(commands.submit(1)),
      actor.send(commands.cancel(1)),
      actor.send(commands.submit(1, { admissionId: 'another-id' })),
    ]);

    expect(answers).toMatchObject([
      { kind: 'done', reply: { duplicate: false, admission: { admissionId: 'admission-1', status: 'queued' } } },
      { kind: 'done', reply: { admission: { admissionId: 'admission-1', outcome: 'cancelled' } } },
      { kind: 'done', reply: { duplicate: true, admission: { admissionId: 'admission-1', outcome: 'cancelled' } } },
    ]);
    expect(fatal).toEqual([]);
  });

  test('resolving twice is resolving once', async () => {
    const { store, executionGeneration } = await withUnknownTurn();
    const { actor, fatal } = await anActor({ create: false, store });
    const resolve = commands.resolveUnknown(1, { executionGeneration });
    await actor.send(commands.recover());

    const both = await answersOf([actor.send(resolve), actor.send(resolve)]);

    expect(both).toMatchObject([
      { kind: 'done', reply: { receipt: { admission: { outcome: 'interrupted' } } } },
      { kind: 'done', reply: { receipt: { admission: { outcome: 'interrupted' } } } },
    ]);
    expect(fatal).toEqual([]);
  });

  test('a repeated retry whose new prompt is cancelled between the two is told so', async () => {
    const { store, executionGeneration } = await withUnknownTurn();
    const { actor, fatal } = await anActor({ create: false, store });
    const resolve = commands.resolveUnknown(1, { executionGeneration, action: 'retry' });
    const key = { admissionId: resolve.retryAdmissionId };
    await actor.send(commands.recover());

    const [, , , repeat] = await answersOf([
      actor.send(commands.hold()),
      actor.send(resolve),
      actor.send(commands.cancel(1, { key })),
      actor.send({ ...resolve, retryAdmissionId: 'another-id' }),
    ]);

    expect(repeat).toMatchObject({
      kind: 'done',
      reply: { retry: { duplicate: true, admission: { ...key, outcome: 'cancelled' } } },
    });
    expect(fatal).toEqual([]);
  });

  test('a retry that is repeated just after its prompt was cancelled shows it as it is then', async () => {
    const { store, executionGeneration } = await withUnknownTurn();
    const { actor } = await anActor({ create: false, store });
    const resolve = commands.resolveUnknown(1, { executionGeneration, action: 'retry' });
    const key = { admissionId: resolve.retryAdmissionId };
    await actor.send(commands.recover());
    await actor.send(resolve);

    const [, repeat] = await answersOf([actor.send(commands.cancel(1, { key })), actor.send(resolve)]);

    expect(repeat).toMatchObject({
      kind: 'done',
      reply: { retry: { admission: { ...key, status: 'terminal', outcome: 'cancelled', revision: 2 } } },
    });
  });

  test('a receipt after the settlement says so', async () => {
    const world = await anActor();
    await world.actor.send(commands.submit(1));
    const { executionGeneration } = done(await world.actor.send(commands.claim(1, aDraft())));

    const [, receipt] = await answersOf([
      world.actor.send(commands.settle({ executionGeneration })),
      world.actor.send(commands.receipt(1)),
    ]);

    expect(receipt).toMatchObject({ kind: 'done', reply: { admission: { status: 'terminal', outcome: 'completed' } } });
  });

  test('others that wait with them keep their order', async () => {
    const { actor, commits } = await anActor();
    await actor.send(commands.submit(1));

    await answersOf([
      actor.send(commands.cancel(1)),
      actor.send(commands.cancel(1)),
      actor.send(commands.submit(2)),
      actor.send(commands.hold()),
    ]);

    expect(typesOf(commits).flat()).toEqual([
      'admission.queued',
      'admission.cancelled',
      'admission.queued',
      'session.held',
    ]);
  });
});

describe('creating a session', () => {
  test('stores it with its first event', async () => {
    const { actor, commits } = await anActor({ create: false });

    expect(await actor.send({ kind: 'create', profile: aProfile() })).toEqual({ kind: 'done', reply: null });
    expect(typesOf(commits)).toEqual([['session.created']]);
  });

  test('with a request id that the principal has used names the session that has it', async () => {
    const { actor, ledger } = await anActor({ create: false });
    ledger.answerNext({
      kind: 'request_taken',
      created: { sessionId: 'session-of-the-winner', requestDigest: 'digest' },
    });

    expect(await actor.send({ kind: 'create', profile: aProfile() })).toEqual({
      kind: 'refused',
      refusal: { reason: 'request_conflict', sessionId: 'session-of-the-winner' },
    });
  });
});

test('failpoints are passed in order, and none of them for a command that changes nothing', async () => {
  const passed: string[] = [];
  const { actor } = await anActor({ failpoints: { hit: (name) => void passed.push(name) } });
  passed.length = 0;

  await Promise.all([actor.send(commands.submit(1)), actor.send(commands.receipt(1)), actor.send(commands.hold())]);

  expect(passed).toEqual([
    'submit.before_commit',
    'hold.before_commit',
    'submit.after_commit',
    'hold.after_commit',
    'submit.after_publish',
    'hold.after_publish',
  ]);
});

test('the state is loaded once, however many ask for it at the same time', async () => {
  const { another } = await anActor();
  const { actor, ledger } = another();
  let loads = 0;
  ledger.beforeNext('load', async () => void (loads += 1));
  ledger.beforeNext('load', async () => void (loads += 1));

  const [first, second] = await Promise.all([actor.state(), actor.send(commands.receipt(1)).then(() => actor.state())]);

  expect(second).toBe(first);
  expect(loads).toBeLessThanOrEqual(2);
});

/** The answers, or `unanswered` where none comes. */
async function answersOf(sent: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const answers: unknown[] = sent.map(() => 'unanswered');
  for (const [index, promise] of sent.entries()) void promise.then((answer) => (answers[index] = answer));
  await quiet();
  return answers;
}

/** A store whose first turn was sent when its owner was lost. */
async function withUnknownTurn(): Promise<{ store: MemoryStore; executionGeneration: number }> {
  const store = new MemoryStore('store-1');
  const { actor } = await anActor({ store });
  await actor.send(commands.submit(1));
  const { executionGeneration } = done(await actor.send(commands.claim(1, aDraft())));
  await quiet();
  return { store, executionGeneration };
}
