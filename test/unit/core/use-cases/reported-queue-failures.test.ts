/*
 * Failures of queues, cancellations and restarts that other systems had, each by its kind. Kinds that only a process or a
 * socket can show are elsewhere:
 *
 * - a send without a living daemon that claims success: test/e2e/daemon/exit-codes.test.ts and the command line's tests;
 * - an answer that was heard and is not in the transcript after a kill: test/e2e/random-kills;
 * - a receipt lost with its connection, and asked for again after a restart: test/e2e/clients/reconnect.test.ts;
 * - a claimed prompt whose process is killed before its request: test/e2e/journey/kills.test.ts;
 * - a rotation that is killed half-way: test/e2e/failpoints.
 */
import { describe, expect, test } from 'vitest';
import { ScriptedTools } from '../../../../src/adapters/outbound/memory/scripted-tools.ts';
import type { ToolScript } from '../../../../src/adapters/outbound/memory/scripted-tools.ts';
import {
  failedWith,
  ScriptedModel,
  textAnswer,
  toolAnswer,
} from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { SessionEvent } from '../../../../src/core/domain/session/events.ts';
import { aPrincipal, aToolCall } from '../../../support/builders.ts';
import { done, MemoryGateway, quiet, said } from '../../../support/memory-gateway.ts';
import { requestFaults } from '../domain/transcript/request-faults.ts';

const ends = ['turn.settled', 'turn.resolved', 'admission.cancelled'];

/** A session whose first turn is parked inside the model, with followers. */
async function busySession(...followers: readonly string[]) {
  const gateway = await MemoryGateway.started();
  const sessionId = await gateway.create();
  gateway.model.enqueue([{ kind: 'gate', name: 'running' }, ...textAnswer('The first answer.')]);
  await gateway.submit(sessionId, 'running');
  for (const name of followers) await gateway.submit(sessionId, name);
  await gateway.model.reached('running');
  return { gateway, sessionId };
}

function cancel(gateway: MemoryGateway, sessionId: string, inputId: string, revision: number) {
  const key = { principalId: aPrincipal, inputId };
  return gateway.sessions.send(sessionId, { kind: 'cancel', key, revision, known: undefined });
}

describe('a turn that memory and store disagree about', () => {
  test('is what the store says: a stale owner accepts nothing, and its successor runs what is stored (A1)', async () => {
    const { gateway, sessionId } = await busySession('waits');
    const successor = await MemoryGateway.started({ store: gateway.store });

    const stale = await gateway.trySubmit(sessionId, 'late', { text: 'late', parts: null });

    expect(stale).toEqual({ kind: 'unavailable', outcomeUnknown: true });
    expect(gateway.fatal).toMatchObject([{ kind: 'superseded' }]);
    expect(successor.admission(sessionId, 'waits').status).toBe('queued');
    expect(successor.store.findAdmission(sessionId, { principalId: aPrincipal, inputId: 'late' })).toBeNull();
  });

  test('leaves no phantom that keeps a session busy: a failed end is a terminal one, and the queue goes on (A14)', async () => {
    const { gateway, sessionId } = await busySession();
    gateway.model.release('running');
    await gateway.ended(sessionId, 'running');
    gateway.model.enqueue([failedWith('bad_request', 'No.')]);

    const failed = await gateway.turn(sessionId, 'fails');
    const after = await gateway.turn(sessionId, 'after');

    expect([failed.outcome, after.outcome]).toEqual(['failed', 'completed']);
  });

  test('can be stopped and resolved after a restart, although nothing runs it (A13)', async () => {
    const { gateway, sessionId } = await busySession('waits');
    const successor = await MemoryGateway.started({ store: gateway.store });
    const { admissionId, executionGeneration } = successor.admission(sessionId, 'running');

    const resolved = await successor.sessions.send(sessionId, {
      kind: 'resolve_unknown',
      admissionId,
      executionGeneration: executionGeneration ?? 0,
      action: 'discard',
      by: 'somebody',
      retryAdmissionId: 'unused',
      known: undefined,
    });

    expect(resolved.kind).toBe('done');
    expect((await successor.ended(sessionId, 'waits')).outcome).toBe('completed');
  });
});

describe('a start of a process', () => {
  test('leaves no admission in a state that needs its last owner, however often it is repeated (A11)', async () => {
    const { gateway, sessionId } = await busySession('waits');
    let store = gateway.store;
    for (let start = 0; start < 3; start += 1) ({ store } = await MemoryGateway.started({ store }));

    const statuses = ['running', 'waits'].map(
      (inputId) => store.findAdmission(sessionId, { principalId: aPrincipal, inputId })?.status,
    );
    expect(statuses).toEqual(['unknown', 'queued']);
  });

  test.each(Array.from({ length: 50 }, (_, turns) => turns))(
    'and the first message to come in make one turn at a time (message after %i turns of the event loop) (A2)',
    async (turns) => {
      const lost = await MemoryGateway.owning();
      const sessionId = await lost.create();
      await lost.submit(sessionId, 'before');
      const successor = await MemoryGateway.owning({ store: lost.store });

      const starting = successor.gateway.start();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      const submitted = successor.submit(sessionId, 'hello');
      await Promise.all([starting, submitted]);
      await successor.ended(sessionId, 'hello');

      expect(startedIn(successor, sessionId)).toEqual(['before', 'hello']);
      expect(successor.requests('turn').map((request) => said(request).at(-1))).toEqual([
        'user: prompt before',
        'user: prompt hello',
      ]);
    },
  );

  test('re-sends no old events and executes no call that an interrupted turn has left (A31, A32)', async () => {
    const calls: unknown[] = [];
    const hang: ToolScript = ({ arguments: of }) => {
      calls.push(of);
      return new Promise(() => undefined);
    };
    const tools = { tools: new ScriptedTools({ write: hang, ask: hang }) };
    const model = new ScriptedModel(() => textAnswer('Fine.')).enqueue(
      toolAnswer([
        aToolCall({ id: 'c1', name: 'scripted__write', arguments: '{"n":1}' }),
        aToolCall({ id: 'c2', name: 'scripted__ask', arguments: '{"n":2}' }),
      ]),
    );
    const gateway = await MemoryGateway.started({ ...tools, model });
    const sessionId = await gateway.create({ toolsets: ['scripted.write', 'scripted.ask'] });
    await gateway.submit(sessionId, 'batch');
    await gateway.submit(sessionId, 'status');
    await gateway.happened(sessionId, (event) => event.type === 'tool.started');
    await quiet();
    const before = gateway.log(sessionId).length;

    const successor = await MemoryGateway.started({ ...tools, store: gateway.store, onUnknown: 'discard' });
    await successor.ended(sessionId, 'status');

    expect(calls).toEqual([{ n: 1 }, { n: 2 }]);
    const [request] = successor.requests('turn');
    expect(requestFaults(request?.messages ?? [])).toEqual([]);
    // The message with the calls was stored before the first of them started: it is there, and so are both results.
    expect(request?.messages.filter(({ role }) => role === 'tool')).toHaveLength(2);
    expect(successor.log(sessionId).slice(0, before)).toEqual(gateway.log(sessionId).slice(0, before));
  });
});

test('an end that is told has its answer in the store: a process that dies at that instant has lost nothing (A4)', async () => {
  const { gateway, sessionId } = await busySession();
  const seen: (readonly string[])[] = [];
  gateway.hub.listen(sessionId, {
    live: () => undefined,
    durable: (events) => {
      if (!events.some(({ type }) => type === 'turn.settled')) return;
      seen.push(gateway.store.activeMessages(sessionId).map(({ role }) => role));
    },
  });

  gateway.model.release('running');
  await gateway.ended(sessionId, 'running');
  const successor = await MemoryGateway.started({ store: gateway.store });
  await successor.turn(sessionId, 'after');

  expect(seen).toEqual([['user', 'assistant']]);
  expect(said(successor.requests('turn').at(-1)).map((line) => line.split(':')[0])).toEqual([
    'user',
    'assistant',
    'user',
  ]);
});

describe('what waits in a queue', () => {
  test('starts when the turn before it ends, with nobody connected and no further message (A25)', async () => {
    const { gateway, sessionId } = await busySession('b', 'c');

    gateway.model.release('running');
    await gateway.ended(sessionId, 'c');

    expect(startedIn(gateway, sessionId)).toEqual(['running', 'b', 'c']);
  });

  test('starts in the order of its receipts, whatever kind of prompt it is (A26)', async () => {
    const { gateway, sessionId } = await busySession();
    const large = 'x'.repeat(200_000);
    const both = Promise.all([
      gateway.trySubmit(sessionId, 'large', { text: large, parts: null }),
      gateway.trySubmit(sessionId, 'small', { text: 'small', parts: null }),
    ]);
    const sequences = (await both).map((sent) => done(sent).admission.seq);

    gateway.model.release('running');
    await gateway.ended(sessionId, 'small');

    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    expect(startedIn(gateway, sessionId)).toEqual(['running', 'large', 'small']);
  });

  test('is never deleted: a claim is a change of its state (A7)', async () => {
    const { gateway, sessionId } = await busySession('b');
    gateway.model.release('running');
    await gateway.ended(sessionId, 'b');

    for (const inputId of ['running', 'b']) expect(gateway.admission(sessionId, inputId).outcome).toBe('completed');
  });

  test('survives what somebody else withdraws, in its place (A23)', async () => {
    const { gateway, sessionId } = await busySession('a', 'b', 'c');

    const [withdrawn, accepted] = await Promise.all([
      cancel(gateway, sessionId, 'b', 1),
      gateway.trySubmit(sessionId, 'd', { text: 'd', parts: null }),
    ]);
    gateway.model.release('running');
    await gateway.ended(sessionId, 'd');

    expect([withdrawn.kind, accepted.kind]).toEqual(['done', 'done']);
    expect(startedIn(gateway, sessionId)).toEqual(['running', 'a', 'c', 'd']);
    expect(gateway.log(sessionId).filter(({ type }) => type === 'admission.cancelled')).toHaveLength(1);
  });

  test('can’t be withdrawn any more once it runs: the answer says so, and nothing else is touched (A8)', async () => {
    const { gateway, sessionId } = await busySession('a', 'b');

    const late = await cancel(gateway, sessionId, 'running', 1);

    expect(late).toMatchObject({ kind: 'refused', refusal: { reason: 'not_queued' } });
    expect((await gateway.state(sessionId)).open.map(({ inputId }) => inputId)).toEqual(['running', 'a', 'b']);
  });

  test('is tried once when it can’t start, and says why; what is behind it is tried too (A17)', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    await gateway.turn(sessionId, 'a1');
    gateway.model.enqueue([failedWith('auth', 'No key.')]);

    const [failed, next] = await Promise.all([gateway.turn(sessionId, 'a2'), gateway.turn(sessionId, 'a3')]);

    expect(failed).toMatchObject({ outcome: 'failed', failure: { reason: 'auth' } });
    expect(next.outcome).toBe('completed');
    expect(gateway.requests('turn')).toHaveLength(3);
  });

  test('is sent to the model as itself only: what failed before it is in the request once (A22)', async () => {
    const gateway = await MemoryGateway.started();
    const sessionId = await gateway.create();
    gateway.model.enqueue([failedWith('bad_request', 'No.')]);
    await gateway.turn(sessionId, 'a2', 'the failed one');
    await gateway.turn(sessionId, 'a3', 'the third');
    await gateway.turn(sessionId, 'a4', 'the fourth');

    for (const request of gateway.requests('turn').slice(1)) {
      const failedOnes = said(request).filter((line) => line.includes('the failed one'));
      expect(failedOnes.length).toBeLessThanOrEqual(1);
      expect(requestFaults(request.messages)).toEqual([]);
    }
  });
});

describe('a prompt that is delivered twice', () => {
  test('is one turn, whether the first waits, runs or has ended, and whoever owns the store (A19, A20)', async () => {
    const { gateway, sessionId } = await busySession('k');
    const first = gateway.admission(sessionId, 'k').admissionId;

    const waiting = await gateway.submit(sessionId, 'k');
    gateway.model.release('running');
    await gateway.ended(sessionId, 'k');
    const ended = await gateway.submit(sessionId, 'k');
    const successor = await MemoryGateway.started({ store: gateway.store });
    const afterRestart = await successor.submit(sessionId, 'k');

    for (const { admission, duplicate } of [waiting, ended, afterRestart]) {
      expect([admission.admissionId, duplicate]).toEqual([first, true]);
    }
    expect(startedIn(successor, sessionId)).toEqual(['running', 'k']);
  });

  test('with another text is a conflict that names the first (A19)', async () => {
    const { gateway, sessionId } = await busySession('k');

    const other = await gateway.trySubmit(sessionId, 'k', { text: 'something else', parts: null });

    expect(other).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'admission_conflict', receipt: { admission: { inputId: 'k' } } },
    });
  });
});

describe('a stop', () => {
  test('that comes when its turn has ended by itself leaves the follower alone (A28)', async () => {
    const { gateway, sessionId } = await busySession('b');
    const generation = gateway.admission(sessionId, 'running').executionGeneration ?? 0;
    gateway.model.release('running');
    await gateway.ended(sessionId, 'running');

    const late = await gateway.sessions.send(sessionId, {
      kind: 'interrupt',
      executionGeneration: generation,
      by: 'somebody',
    });

    expect(late).toMatchObject({ kind: 'refused', refusal: { reason: 'turn_over' } });
    expect((await gateway.ended(sessionId, 'b')).outcome).toBe('completed');
  });

  test('between the start of a turn and its first byte ends it with one terminal event (A29)', async () => {
    const { gateway, sessionId } = await busySession();

    await gateway.interrupt(sessionId);
    await gateway.ended(sessionId, 'running');

    const events = gateway.log(sessionId).filter(({ type }) => type === 'turn.started' || ends.includes(type));
    expect(events.map(({ type }) => type)).toEqual(['turn.started', 'turn.settled']);
  });
});

test('every end is told by one event of one shape, and what was started has one (A10, A29)', async () => {
  const { gateway, sessionId } = await busySession('completed', 'cancelled', 'failed');
  await cancel(gateway, sessionId, 'cancelled', 1);
  gateway.model.enqueue(textAnswer('Fine.'), [failedWith('bad_request', 'No.')]);
  gateway.model.release('running');
  await gateway.ended(sessionId, 'failed');

  const log = gateway.log(sessionId);
  const settled = log.filter(
    (event): event is SessionEvent & { type: 'turn.settled' } => event.type === 'turn.settled',
  );
  const started = log.filter(({ type }) => type === 'turn.started').map(({ admissionId }) => admissionId);
  expect(settled.map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'failed']);
  expect(settled.map(({ admissionId }) => admissionId)).toEqual(started);
});

/** The input ids of the turns that were started, in order. */
function startedIn(gateway: MemoryGateway, sessionId: string): readonly string[] {
  const inputOf = new Map<string | null, string>();
  const names: string[] = [];
  for (const event of gateway.log(sessionId)) {
    if (event.type === 'admission.queued') inputOf.set(event.admissionId, event.admission.inputId);
    if (event.type === 'turn.started') names.push(inputOf.get(event.admissionId) ?? '?');
  }
  return names;
}
