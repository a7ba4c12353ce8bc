import { describe, expect, test } from 'vitest';
import { MemoryLedger } from '../../../../src/adapters/outbound/memory/memory-ledger.ts';
import { MemoryQueries } from '../../../../src/adapters/outbound/memory/memory-queries.ts';
import { MemoryStore } from '../../../../src/adapters/outbound/memory/memory-store.ts';
import { InvariantViolation } from '../../../../src/core/domain/invariant.ts';
import type { SessionEvent } from '../../../../src/core/domain/session/events.ts';
import { messageFrom } from '../../../../src/core/domain/transcript/message.ts';
import { aDraft, anAdmission, anEvent, aPayload, aProfile, aSummary, aToolCall } from '../../../support/builders.ts';
import { submitCommand, TestOwner } from '../../../support/test-owner.ts';

async function aStoreWithATurn() {
  const store = new MemoryStore('store-1');
  const ledger = new MemoryLedger(store);
  const session = await (await TestOwner.takingOver(ledger)).create('session-1');
  await session.turn('a');
  await session.submit('b');
  await session.start();
  await session.startCompression('compression-1');
  return { store, ledger, session };
}

function contentOf(store: MemoryStore): unknown {
  return {
    states: store.states(),
    events: store.events('session-1'),
    admissions: store.admissions('session-1'),
    messages: store.activeMessages('session-1'),
    parent: store.transcript('session-1'),
    child: store.transcript('child-1'),
    childMessages: store.activeMessages('child-1'),
    created: store.findCreated({ principalId: 'local', requestId: 'create-session-1' }),
    payload: store.payload('admission-99'),
    unfinished: store.unfinished(),
    next: store.clone().takeOwnership(),
  };
}

describe('an append to the memory store that turns out to be impossible', () => {
  test('takes back everything that its first events wrote', async () => {
    const { store, session } = await aStoreWithATurn();
    const rotation = await session.request({
      kind: 'rotate',
      compressionId: 'compression-1',
      executionGeneration: 2,
      plan: { head: [1], middle: [2], tail: [3] },
      childTranscript: 'child-1',
      summary: aSummary(),
      tokensBefore: 10,
      tokensAfter: 5,
      model: 'summary-model',
      usage: null,
    });
    const afterwards = { seq: session.state.seq + 2, executionGeneration: 2, admissionId: 'admission-session-1-b' };
    const settled = anEvent(
      { type: 'turn.settled', outcome: 'interrupted', failure: null, evidence: null, usage: null, hidden: [3] },
      afterwards,
    );
    const admission = anAdmission({ seq: 99 });
    const queued = anEvent({ type: 'admission.queued', admission, payload: aPayload() }, { seq: afterwards.seq + 1 });
    const impossible = anEvent({ type: 'admission.cancelled' }, { seq: afterwards.seq + 2, admissionId: 'nobody' });
    const events = [...rotation.events, settled, queued, impossible];
    const before = contentOf(store);

    expect(() => store.append({ ...rotation, events })).toThrow(InvariantViolation);

    expect(contentOf(store)).toEqual(before);
    expect(store.append({ ...rotation, events: events.slice(0, -1) })).toEqual({ kind: 'committed' });
  });

  test('leaves no trace of a session that it created', () => {
    const store = new MemoryStore('store-1');
    const { epoch } = store.takeOwnership();
    const before = contentOf(store);
    const created = anEvent({ type: 'session.created', profile: aProfile({ requestId: 'create-session-1' }) });
    const impossible = anEvent({ type: 'admission.cancelled' }, { seq: 2, admissionId: 'nobody' });

    const append = { sessionId: 'session-1', expectedSeq: 0, epoch, events: [created, impossible] };
    expect(() => store.append(append)).toThrow(InvariantViolation);

    expect(contentOf(store)).toEqual(before);
  });

  test.each<[string, SessionEvent]>([
    ['a message id', appendedMessage(1)],
    ['an admission id', queuedAgain({ admissionId: 'admission-session-1-a' })],
    ['a message without its content', messageWithoutContent()],
    ['a payload that nobody has', queuedAgain({ admissionId: 'fresh' }, 'nobody')],
  ])('is one that has %s where it must not be', async (_what, event) => {
    const { store, session } = await aStoreWithATurn();
    const before = contentOf(store);
    const numbered = { ...event, seq: session.state.seq + 1 };

    expect(() => store.append(session.requestOf([numbered]))).toThrow(InvariantViolation);

    expect(contentOf(store)).toEqual(before);
  });
});

describe('the memory store', () => {
  test('can be cloned, and what happens to one of the two is not seen in the other', async () => {
    const { store, session } = await aStoreWithATurn();
    const before = contentOf(store);
    const clone = store.clone();

    await session.rotate({ head: 1, tail: 1, childTranscript: 'child-1' });
    await session.settle();
    await session.submit('c');

    expect(contentOf(clone)).toEqual(before);
    expect(contentOf(store)).not.toEqual(before);
  });

  test('records when a transcript was closed and which one follows it', async () => {
    const { store, session } = await aStoreWithATurn();

    await session.rotate({ head: 1, tail: 1, childTranscript: 'child-1' });

    const at = session.events.at(-1)?.at;
    const common = { sessionId: 'session-1' };
    expect(store.transcript('session-1')).toMatchObject({
      ...common,
      parentId: null,
      endedAt: at,
      endReason: 'compression',
    });
    expect(store.transcript('child-1')).toEqual({
      ...common,
      id: 'child-1',
      parentId: 'session-1',
      startedAt: at,
      endedAt: null,
      endReason: null,
    });
  });

  test('hands out nothing that a caller can change', async () => {
    const { store, ledger, session } = await aStoreWithATurn();
    const before = contentOf(store);
    const queries = new MemoryQueries(store);
    const handedOut: unknown[] = [
      await ledger.load('session-1'),
      await ledger.findAdmission('session-1', { inputId: 'a', principalId: 'local' }),
      await ledger.readPayload('admission-session-1-a'),
      await ledger.readTranscript('session-1', 0),
      await ledger.append({ ...session.requestOf([...session.events].slice(1, 2)), expectedSeq: 1 }),
      await queries.events({ sessionId: 'session-1', afterSeq: 0, limit: 100 }),
      await queries.listAdmissions({ sessionId: 'session-1', include: 'all', limit: 100, after: null }),
    ];

    handedOut.forEach(vandalise);

    expect(contentOf(store)).toEqual(before);
  });

  test('keeps nothing of what was handed in: a caller may go on using it', async () => {
    const { store, session } = await aStoreWithATurn();
    const calls = [aToolCall()];
    const draft = aDraft({ role: 'assistant', kind: 'answer', toolCalls: calls });
    const message = messageFrom(draft, 50, session.state.profile.startedAt);
    const header = { admissionId: session.running.admissionId, seq: session.state.seq + 1 };
    const event = anEvent(
      { type: 'message.appended', message, boundary: null, step: 1, contextTokens: null, answeredBy: null },
      header,
    );

    await session.append([event]);
    calls.push(aToolCall({ id: 'call-2' }));
    vandalise(event);

    expect(store.message(50)?.toolCalls).toEqual([aToolCall()]);
    expect(store.load('session-1')?.messages.at(-1)?.toolCallIds).toEqual(['call-1']);
  });
});

describe('the memory ledger', () => {
  test('answers no call in the tick in which it was made', async () => {
    const { ledger } = await aStoreWithATurn();
    let answered = false;

    const answer = ledger.load('session-1').then(() => (answered = true));

    expect(answered).toBe(false);
    expect(await answer).toBe(true);
  });

  test('serves reads in the order of the calls as well: one that follows an append sees it', async () => {
    const { ledger, session } = await aStoreWithATurn();
    const { events } = await session.request(submitCommand('session-1', 'c'));

    const append = session.append(events);
    const found = ledger.findAdmission('session-1', { inputId: 'c', principalId: 'local' });

    expect((await found)?.inputId).toBe('c');
    expect(await append).toEqual({ kind: 'committed' });
  });
});

function appendedMessage(id: number): SessionEvent {
  const message = messageFrom(aDraft(), id, '2030-01-01T00:00:00.000Z');
  const body = {
    type: 'message.appended',
    message,
    boundary: null,
    step: 1,
    contextTokens: null,
    answeredBy: null,
  } as const;
  return anEvent(body, { admissionId: 'admission-session-1-b' });
}

function messageWithoutContent(): SessionEvent {
  const { text, ...message } = messageFrom(aDraft(), 50, '2030-01-01T00:00:00.000Z');
  const body = {
    type: 'message.appended',
    message,
    boundary: null,
    step: 1,
    contextTokens: null,
    answeredBy: null,
  } as const;
  return anEvent(body, { admissionId: 'admission-session-1-b' });
}

function queuedAgain(overrides: { admissionId: string }, payloadFrom?: string): SessionEvent {
  const admission = anAdmission({ seq: 99, ...overrides });
  const content = payloadFrom === undefined ? { payload: aPayload() } : { payloadFrom };
  return anEvent({ type: 'admission.queued', admission, ...content });
}

/** Writes over everything in a value that lets itself be written over. */
function vandalise(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.values(value).forEach(vandalise);
  for (const key of Object.keys(value)) Reflect.set(value, key, 'vandalised');
  if (Array.isArray(value) && !Object.isFrozen(value)) value.length = 0;
}
