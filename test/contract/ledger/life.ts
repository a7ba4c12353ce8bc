import { describe, expect, test } from 'vitest';
import { anAnswer, aPayload, aProfile, aToolCall } from '../../support/builders.ts';
import { copied, TestOwner } from '../../support/test-owner.ts';
import type { TestSession } from '../../support/test-owner.ts';
import { failureOf } from '../../../src/core/domain/model/failure.ts';
import { everythingOf } from './everything.ts';
import { useHarness } from './harness.ts';
import type { MakeLedgerHarness } from './harness.ts';

/** A session with a title, two turns, a tool call, an approval and compressions, all settled; its breaker is open. */
async function aFullSession(owner: TestOwner, sessionId = 'session-1'): Promise<TestSession> {
  const session = await owner.create(sessionId, { title: 'Secret', cwd: '/secret', systemPrompt: 'Be secret.' });
  await session.turn('a');
  await session.submit('b', { payload: aPayload({ text: 'secret prompt' }) });
  await session.start();
  await session.ask(anAnswer({ toolCalls: [aToolCall({ arguments: '{"secret":1}' })] }));
  await session.finish('call-1');
  await session.startCompression(`${sessionId}-compression-1`);
  await session.rotate({ head: 1, tail: 1, childTranscript: `${sessionId}-child-1` });
  await session.startCompression(`${sessionId}-compression-2`);
  await session.rotate({ head: 1, tail: 1, childTranscript: null });
  await session.askFor(anAnswer({ toolCalls: [aToolCall({ id: `${sessionId}-call` })] }));
  await session.respond(`approval-${sessionId}-call`, 'deny');
  await session.startCompression(`${sessionId}-compression-3`);
  const failure = failureOf('compression_failed', 'A secret reason.');
  const compressionId = `${sessionId}-compression-3`;
  await session.run({ kind: 'fail_compression', compressionId, failure, usage: null, opensBreaker: true });
  await session.settle();
  return session;
}

/** Updates, edits, moves, forks and deletions. */
export function describeLife(makeHarness: MakeLedgerHarness): void {
  describe('an update', () => {
    const harness = useHarness(makeHarness);

    test('is read back, and a new owner finds it', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1', { title: 'Before' });
      await session.submit('a');
      await session.start();
      await session.settle({ contextTokens: 99 });
      const model = { provider: 'other', model: 'larger', baseUrl: 'http://127.0.0.1:1' };

      await session.run({ kind: 'update', changes: { title: null, model, pinned: true }, revision: 1, by: 'local' });
      await session.run({ kind: 'update', changes: { archived: true }, revision: 2, by: 'local' });

      expect(session.state).toMatchObject({ revision: 3, archived: true, pinned: true, usageAnchor: null });
      expect((await harness.reopen()).ledger).toBeDefined();
      expect(await harness.ledger.load('session-1')).toEqual(session.state);
      const { systemPrompt, ...shown } = session.state.profile;
      expect(await harness.queries.findSession('session-1')).toMatchObject({
        profile: { ...shown, title: null, ...model },
        archived: true,
        pinned: true,
      });
    });

    test('decides which list a session is in', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      for (const id of ['session-1', 'session-2', 'session-3']) await owner.create(id);
      const session = await owner.find('session-2');
      await session.run({ kind: 'update', changes: { archived: true }, revision: null, by: 'local' });
      const idsOf = async (archived: boolean | null): Promise<readonly string[]> => {
        const page = await harness.queries.listSessions({ principalId: 'local', archived, limit: 10, before: null });
        return page.sessions.map(({ sessionId }) => sessionId);
      };

      expect(await idsOf(false)).toEqual(['session-3', 'session-1']);
      expect(await idsOf(true)).toEqual(['session-2']);
      expect(await idsOf(null)).toEqual(['session-3', 'session-2', 'session-1']);
    });
  });

  describe('a prompt that waits', () => {
    const harness = useHarness(makeHarness);

    test('has its new content after an edit, and the identity that it had', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const { admission } = await session.submit('a');
      const payload = aPayload({ text: 'Something else', parts: [{ type: 'text', text: 'Something else' }] });
      const key = { admissionId: admission.admissionId };

      await session.run({ kind: 'edit', key, revision: 1, payload, payloadDigest: 'digest-2', known: undefined });

      expect(await harness.ledger.readPayload(admission.admissionId)).toEqual({ payload, payloadDigest: 'digest-2' });
      expect(await harness.ledger.findAdmission('session-1', key)).toEqual({
        ...admission,
        payloadDigest: 'digest-2',
        revision: 2,
      });
      expect(await harness.ledger.load('session-1')).toEqual(session.state);
    });

    test('is read at its new place, however often it is moved', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      for (const inputId of ['a', 'b', 'c']) await session.submit(inputId);
      for (let round = 0; round < 70; round += 1) {
        const key = { admissionId: session.state.open[2]?.admissionId ?? '' };
        const before = { admissionId: session.state.open[1]?.admissionId ?? '' };
        await session.run({ kind: 'move', key, revision: null, to: { before }, known: undefined });
      }

      const page = { sessionId: 'session-1', include: 'open', limit: 10, after: null } as const;
      const { admissions } = await harness.queries.listAdmissions(page);
      expect(admissions.map(({ admission }) => admission.inputId)).toEqual(['a', 'b', 'c']);
      expect(admissions.map(({ admission }) => admission)).toEqual(session.state.open);
      expect(await harness.ledger.load('session-1')).toEqual(session.state);
    });
  });

  describe('a fork', () => {
    const harness = useHarness(makeHarness);

    test('begins with messages of its own', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      await (await owner.create('session-1')).turn('a');
      const messages = await harness.ledger.readTranscript('session-1', 0);
      const forkedFrom = { sessionId: 'session-1', messageId: messages.at(-1)?.id ?? null };
      const fork = await owner.create('session-2', { forkedFrom }, messages);

      const copies = await harness.ledger.readTranscript('session-2', 0);
      expect(copies.map(({ text, at }) => ({ text, at }))).toEqual(messages.map(({ text, at }) => ({ text, at })));
      expect(copies.every((copy) => copy.id === copy.originId && copy.admissionId === null)).toBe(true);
      expect(Math.min(...copies.map(({ id }) => id))).toBeGreaterThan(messages.at(-1)?.id ?? 0);
      await fork.turn('b');
      expect(await harness.ledger.load('session-2')).toEqual(fork.state);
      const { events } = await harness.queries.events({ sessionId: 'session-2', afterSeq: 0, limit: 100 });
      expect(events.flatMap((event) => (event.type === 'message.appended' ? event.message : [])).slice(0, 2)).toEqual(
        copies,
      );
      expect((await harness.queries.findSession('session-2'))?.profile.forkedFrom).toEqual(forkedFrom);
    });

    test('keeps what its messages said when the session that they come from is deleted', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const origin = await owner.create('session-1');
      await origin.turn('a', { answer: 'the answer' });
      await owner.create('session-2', {}, origin.state.messages);

      await origin.run({ kind: 'delete', by: 'local' });

      const copies = await harness.ledger.readTranscript('session-2', 0);
      expect(copies.map(({ text }) => text)).toEqual(['prompt of a', 'the answer']);
    });

    test('of messages that are gone is refused, and nothing of it is stored', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const origin = await owner.create('session-1');
      await origin.turn('a');
      const request = await owner
        .unmade('session-2')
        .request({ kind: 'create', profile: aProfile({ requestId: 'fork' }), messages: copied(origin.state.messages) });
      await origin.run({ kind: 'delete', by: 'local' });

      expect(await harness.ledger.append(request)).toEqual({ kind: 'content_gone' });
      expect(await harness.ledger.load('session-2')).toBeNull();
      expect(await harness.ledger.findCreated({ principalId: 'local', requestId: 'fork' })).toBeNull();
    });
  });

  describe('a deletion', () => {
    const harness = useHarness(makeHarness);

    test('leaves ids, digests and outcomes, and nothing that anybody wrote', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await aFullSession(owner);
      const before = {
        a: await harness.ledger.findAdmission('session-1', { inputId: 'a', principalId: 'local' }),
        b: await harness.ledger.findAdmission('session-1', { inputId: 'b', principalId: 'local' }),
      };

      await session.run({ kind: 'delete', by: 'local' });

      const { ledger, queries } = harness;
      expect(await ledger.load('session-1')).toEqual(session.state);
      expect(session.state).toMatchObject({ messages: [], profile: { title: null, systemPrompt: null } });
      expect(await ledger.sessionOf('session-1-child-1')).toMatchObject({ sessionId: 'session-1' });
      expect(await ledger.findCreated({ principalId: 'local', requestId: 'create-session-1' })).not.toBeNull();
      for (const inputId of ['a', 'b'] as const) {
        const admission = await ledger.findAdmission('session-1', { inputId, principalId: 'local' });
        expect(admission).toEqual(before[inputId]);
        expect(await ledger.readPayload(admission?.admissionId ?? '')).toBeNull();
      }
      expect(await ledger.readTranscript('session-1-child-1', 0)).toEqual([]);
      expect(await ledger.readTranscript('session-1', 0)).toEqual([]);
      expect(await queries.findSession('session-1')).toBeNull();
      const list = { principalId: 'local', archived: null, limit: 10, before: null };
      expect((await queries.listSessions(list)).sessions).toEqual([]);
      const { events, lastSeq } = await queries.events({ sessionId: 'session-1', afterSeq: 0, limit: 100 });
      expect(events.map(({ type, seq }) => [type, seq])).toEqual([['session.deleted', session.state.seq]]);
      expect(lastSeq).toBe(session.state.seq);
      expect(await queries.findApproval('session-1', 'approval-session-1-call')).toBeNull();
      expect(await queries.openBreakers({ now: '', limit: 10 })).toEqual([]);
    });

    test('touches no other session, not even a fork', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await aFullSession(owner);
      await aFullSession(owner, 'session-2');
      const taken = session.state.messages;
      await owner.create('fork', { forkedFrom: { sessionId: 'session-1', messageId: 1 } }, taken);
      const others = ['session-2', 'fork'];
      const readOthers = async (): Promise<unknown> => await everythingOf(harness, others);
      const before = (await readOthers()) as { sessions: unknown };

      await session.run({ kind: 'delete', by: 'local' });

      expect(((await readOthers()) as { sessions: unknown }).sessions).toEqual(before.sessions);
    });

    test('makes the id of its request no free one', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.run({ kind: 'delete', by: 'local' });
      const again = owner.unmade('session-2');
      const request = await again.request({ kind: 'create', profile: aProfile({ requestId: 'create-session-1' }) });

      expect((await harness.ledger.append(request)).kind).toBe('request_taken');
    });
  });
}
