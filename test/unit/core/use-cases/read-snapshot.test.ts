import { describe, expect, test } from 'vitest';
import { textAnswer, toolAnswer } from '../../../../src/adapters/outbound/memory/scripted-model.ts';
import type { ReadSnapshot, SessionSnapshot } from '../../../../src/core/use-cases/resume-session.ts';
import type { SessionState } from '../../../../src/core/domain/session/state.ts';
import { aToolCall } from '../../../support/builders.ts';
import { MemoryGateway, quiet } from '../../../support/memory-gateway.ts';
import type { MemoryGatewayOptions } from '../../../support/memory-gateway.ts';
import { makeReadSnapshot } from '../../../../src/core/use-cases/read-snapshot.ts';
import type { SessionQueries } from '../../../../src/core/ports/session-queries.ts';
import { aModel, textOf, underPressure } from './pressure.ts';

async function aSession(options: MemoryGatewayOptions = {}) {
  const gateway = await MemoryGateway.started(options);
  return { gateway, sessionId: await gateway.create() };
}

async function snapshotOf(gateway: MemoryGateway, sessionId: string, messageLimit = 200): Promise<SessionSnapshot> {
  const snapshot = await gateway.gateway.readSnapshot({ sessionId, messageLimit, before: null });
  if (snapshot === null) throw new Error('There is a session');
  return snapshot;
}

describe('a snapshot', () => {
  test('holds the messages, what is pending with its text, and the state that they are of', async () => {
    const { gateway, sessionId } = await aSession();
    await gateway.turn(sessionId, 'a');
    gateway.model.enqueue([
      { kind: 'text', text: 'I begin' },
      { kind: 'gate', name: 'middle' },
    ]);
    await gateway.submit(sessionId, 'b');
    await gateway.submit(sessionId, 'c');
    await gateway.model.reached('middle');

    const snapshot = await snapshotOf(gateway, sessionId);

    expect(snapshot.state).toEqual(await gateway.state(sessionId));
    expect(snapshot.messages.map(({ text }) => text)).toEqual(['prompt a', 'Fine.', 'prompt b']);
    expect(snapshot.moreMessages).toBe(false);
    expect(
      snapshot.pending.map(({ admission, content }) => [admission.inputId, admission.status, content?.text]),
    ).toEqual([
      ['b', 'started', 'prompt b'],
      ['c', 'queued', 'prompt c'],
    ]);
    expect(snapshot.partial).toEqual({ executionGeneration: 2, step: 1, offset: 7, text: 'I begin' });
  });

  test('of a session that does not exist is none', async () => {
    const { gateway } = await aSession();

    expect(await gateway.gateway.readSnapshot({ sessionId: 'nowhere', messageLimit: 10, before: null })).toBeNull();
  });

  test('holds the newest page, and says that there is more', async () => {
    const { gateway, sessionId } = await aSession();
    for (const id of ['a', 'b', 'c']) await gateway.turn(sessionId, id);

    const snapshot = await snapshotOf(gateway, sessionId, 3);

    expect(snapshot.messages.map(({ text }) => text)).toEqual(['Fine.', 'prompt c', 'Fine.']);
    expect(snapshot.moreMessages).toBe(true);
  });

  test('may be of an older page', async () => {
    const { gateway, sessionId } = await aSession();
    for (const id of ['a', 'b', 'c']) await gateway.turn(sessionId, id);
    const { messages } = await snapshotOf(gateway, sessionId, 3);

    const older = await gateway.gateway.readSnapshot({ sessionId, messageLimit: 10, before: messages[0]?.id ?? 0 });

    expect(older?.messages.map(({ text }) => text)).toEqual(['prompt a', 'Fine.', 'prompt b']);
  });

  test('says how large the next request is, and from when on it is compressed', async () => {
    const { gateway, sessionId } = await underPressure();

    expect((await snapshotOf(gateway, sessionId)).context).toEqual({
      localTokens: 624,
      reportedTokens: null,
      tokens: 624,
      windowTokens: 1000,
      windowSource: 'configured',
      reserveTokens: 100,
      reserveSource: 'model',
      triggerTokens: 800,
      triggerSource: 'threshold',
      compressionEnabled: true,
      breaker: { failures: 0, openUntil: null, reason: null, recent: [] },
    });
  });
});

describe('what a turn has said so far', () => {
  test('is nothing before it has said anything', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue([{ kind: 'gate', name: 'middle' }]);
    await gateway.submit(sessionId, 'a');
    await gateway.model.reached('middle');

    expect((await snapshotOf(gateway, sessionId)).partial).toBeNull();
  });

  test('is left out once its step is among the messages', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue(
      [{ kind: 'text', text: 'Let me look.' }, ...toolAnswer([aToolCall()])],
      [{ kind: 'gate', name: 'second' }],
    );
    await gateway.submit(sessionId, 'a');
    await gateway.model.reached('second');

    const { partial, messages } = await snapshotOf(gateway, sessionId);

    expect(messages[1]?.text).toBe('Let me look.');
    expect(partial).toBeNull();
  });

  test('is left out also while the next step’s request is being prepared', async () => {
    const snapshots: SessionSnapshot[] = [];
    const hit = async (place: string): Promise<void> => {
      if (place === 'model.before_send') snapshots.push(await snapshotOf(gateway, sessionId));
    };
    const { gateway, sessionId } = await aSession({ failpoints: { hit } });
    gateway.model.enqueue([{ kind: 'text', text: 'Let me look.' }, ...toolAnswer([aToolCall()])], textAnswer('Done.'));

    await gateway.turn(sessionId, 'a');

    const snapshot = snapshots[1];
    expect(snapshot?.messages.map(({ kind }) => kind)).toEqual(['prompt', 'answer', 'tool']);
    expect(snapshot?.partial).toBeNull();
  });

  test('of the second step is the second step’s', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue(
      [{ kind: 'text', text: 'Let me look.' }, ...toolAnswer([aToolCall()])],
      [
        { kind: 'text', text: 'I see' },
        { kind: 'gate', name: 'second' },
      ],
    );
    await gateway.submit(sessionId, 'a');
    await gateway.model.reached('second');

    expect((await snapshotOf(gateway, sessionId)).partial).toEqual({
      executionGeneration: 1,
      step: 2,
      offset: 5,
      text: 'I see',
    });
  });

  test('is gone when the turn has ended', async () => {
    const { gateway, sessionId } = await aSession();
    await gateway.turn(sessionId, 'a');

    expect((await snapshotOf(gateway, sessionId)).partial).toBeNull();
  });
});

describe('a snapshot that is read while the session goes on is of one instant:', () => {
  /** Reads a snapshot; the test may commit something before the store is looked at, and before it has answered. */
  async function racing(
    gateway: MemoryGateway,
    sessionId: string,
    meanwhile: (place: 'before the read' | 'after the read') => Promise<unknown>,
  ): Promise<SessionSnapshot | null> {
    const snapshot: SessionQueries['snapshot'] = async (page) => {
      await meanwhile('before the read');
      const found = await gateway.queries.snapshot(page);
      await meanwhile('after the read');
      return found;
    };
    return readerOver(gateway, snapshot)({ sessionId, messageLimit: 200, before: null });
  }

  function readerOver(gateway: MemoryGateway, snapshot: SessionQueries['snapshot']): ReadSnapshot {
    const { sessions, reportContext } = gateway.gateway;
    const { hub, clock } = gateway;
    return makeReadSnapshot({ sessions, queries: { snapshot }, hub, clock, reportContext, partialOf: () => null });
  }

  /** What a snapshot of this state has to hold, from the state alone. */
  function expectWhole(snapshot: SessionSnapshot | null): void {
    const state = snapshot?.state as SessionState; // there is a session
    expect(snapshot?.messages.map(({ id }) => id)).toEqual(state.messages.map(({ id }) => id));
    expect(snapshot?.pending.map(({ admission }) => admission)).toEqual(state.open);
    expect(snapshot?.pending.every(({ content }) => content !== undefined)).toBe(true);
  }

  test.each(['before the read', 'after the read'] as const)('a turn that ends %s', async (place) => {
    const { gateway, sessionId } = await aSession();
    await gateway.turn(sessionId, 'before');
    gateway.model.enqueue([{ kind: 'gate', name: 'answer' }, ...textAnswer('Done.')]);
    await gateway.submit(sessionId, 'a');
    await gateway.submit(sessionId, 'b');
    await gateway.model.reached('answer');

    const snapshot = await racing(gateway, sessionId, async (now) => {
      if (now !== place) return;
      gateway.model.release('answer');
      await gateway.ended(sessionId, 'b');
      await quiet();
    });

    expectWhole(snapshot);
    expect(snapshot?.pending).toHaveLength(place === 'before the read' ? 0 : 2);
  });

  test.each([true, false])('a compression (in place: %s) before the read', async (inPlace) => {
    const model = aModel(() => [{ kind: 'gate', name: 'summary' }, ...textAnswer('SUMMARY OF BEFORE')]);
    const { gateway, sessionId } = await underPressure({ model, policy: { inPlace } });
    await gateway.submit(sessionId, 'trigger', textOf(200, 'trigger'));
    await model.reached('summary');

    const snapshot = await racing(gateway, sessionId, async (now) => {
      if (now === 'after the read') return;
      model.release('summary');
      await gateway.ended(sessionId, 'trigger');
      await quiet();
    });

    expectWhole(snapshot);
  });

  test('a session that never rests is read once', async () => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue([{ kind: 'hang' }]);
    await gateway.submit(sessionId, 'running');
    await gateway.model.requested(1);
    let reads = 0;

    const snapshot = await racing(gateway, sessionId, async () => {
      reads += 1;
      for (const n of [1, 2, 3]) await gateway.submit(sessionId, `p${String(reads)}.${String(n)}`);
    });

    expectWhole(snapshot);
    expect(snapshot?.pending).toHaveLength(4);
    expect(reads).toBe(2);
  });

  /** A session of which a prompt is stored, and nobody has heard of it yet. */
  async function withUntoldPrompt() {
    let tell: () => void = () => undefined;
    const told = new Promise<void>((resolve) => (tell = resolve));
    const hit = (place: string): Promise<void> | undefined => (place === 'submit.after_commit' ? told : undefined);
    const { gateway, sessionId } = await aSession({ failpoints: { hit } });
    const submitted = gateway.submit(sessionId, 'a');
    await quiet();
    return { gateway, sessionId, submitted, tell };
  }

  test('what is stored is waited for until this process has heard of it', async () => {
    const { gateway, sessionId, submitted, tell } = await withUntoldPrompt();

    const reading = gateway.gateway.readSnapshot({ sessionId, messageLimit: 10, before: null });
    await quiet();
    tell();
    await submitted;

    expect((await reading)?.pending.map(({ admission }) => admission.inputId)).toEqual(['a']);
    expect(gateway.clock.sleeping).toBe(0);
  });

  test('what is stored and never heard of ends it with a failure after which the call may be repeated', async () => {
    const { gateway, sessionId } = await withUntoldPrompt();

    const reading = gateway.gateway.readSnapshot({ sessionId, messageLimit: 10, before: null });
    const failure = expect(reading).rejects.toMatchObject({ kind: 'busy', retryable: true, outcomeUnknown: false });
    await quiet();
    await gateway.clock.advance(5_000);

    await failure;
    expect(gateway.hub.hasListeners(sessionId)).toBe(false);
  });

  test.each([
    ['nothing happens', () => undefined, true],
    ['something else happens', (gateway: MemoryGateway, sessionId: string) => gateway.submit(sessionId, 'next'), true],
    ['its step is stored', (gateway: MemoryGateway) => (gateway.model.release('answer'), quiet()), false],
  ] as const)('what a turn says is of the state where meanwhile %s: %s', async (_what, happens, isShown) => {
    const { gateway, sessionId } = await aSession();
    gateway.model.enqueue([{ kind: 'gate', name: 'answer' }, ...textAnswer('Fine.')]);
    await gateway.submit(sessionId, 'running');
    await gateway.model.reached('answer');
    const partial = { executionGeneration: 1, step: 1, offset: 1, text: 'x' };
    const { sessions, reportContext } = gateway.gateway;
    const { hub, clock } = gateway;
    const read = makeReadSnapshot({
      sessions,
      hub,
      clock,
      reportContext,
      queries: {
        snapshot: async (page) => {
          const found = await gateway.queries.snapshot(page);
          await happens(gateway, sessionId);
          return found;
        },
      },
      partialOf: () => partial,
    });

    const snapshot = await read({ sessionId, messageLimit: 10, before: null });

    expect(snapshot?.partial).toEqual(isShown ? partial : null);
    expect(snapshot?.messages.map(({ text }) => text)).toEqual(
      isShown ? ['prompt running'] : ['prompt running', 'Fine.'],
    );
  });
});
