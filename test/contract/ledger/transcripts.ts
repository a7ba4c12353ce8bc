import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../src/core/domain/model/failure.ts';
import { messageFrom, metaOf } from '../../../src/core/domain/transcript/message.ts';
import type { Message, MessageDraft } from '../../../src/core/domain/transcript/message.ts';
import type { Ledger } from '../../../src/core/ports/ledger.ts';
import { anAnswer, aSummary, aToolCall, aToolResult } from '../../support/builders.ts';
import { TestOwner } from '../../support/test-owner.ts';
import type { TestSession } from '../../support/test-owner.ts';
import { useHarness } from './harness.ts';
import type { MakeLedgerHarness } from './harness.ts';

const richAnswer: MessageDraft = anAnswer({
  text: 'I look – “moment” 🙂',
  parts: [
    { type: 'reasoning', text: 'Hm.', providerMetadata: { vendor: { signature: 'abc', nested: { deep: [1, null] } } } },
    { type: 'text', text: 'I look' },
  ],
  toolCalls: [
    aToolCall({ id: 'call-1', providerMetadata: { vendor: { thought: 'x' } } }),
    aToolCall({ id: 'call-2', arguments: '{broken' }),
  ],
  usage: { inputTokens: 12, outputTokens: 0, totalTokens: null },
  finishReason: 'tool_calls',
  answeredBy: { provider: 'vendor', model: 'model-1', baseUrl: 'https://vendor.test/v1' },
});

export function describeTranscripts(makeHarness: MakeLedgerHarness): void {
  describe('a transcript', () => {
    const harness = useHarness(makeHarness);

    test('gives back every message as it was appended, in order', async () => {
      const session = await aSession(harness.ledger);
      await session.submit('a');
      const { admissionId } = await session.start({ text: 'Prompt\u0000 with "quotes"' });
      await session.say(richAnswer);
      await session.say(aToolResult('call-1', { text: '' }), aToolResult('call-2', { partial: true }));
      await session.settle({ answer: anAnswer({ admissionId, text: 'Done', partial: false }) });

      const { ledger } = await harness.reopen();

      expect(await ledger.readTranscript('session-1', 0)).toEqual(appended(session));
      expect(appended(session).map(metaOf)).toEqual(session.state.messages);
    });

    test('is read from any message on', async () => {
      const session = await aSession(harness.ledger);
      await session.turn('a');
      await session.turn('b');
      const messages = appended(session);
      const [, second] = messages;

      expect(await harness.ledger.readTranscript('session-1', second?.id ?? 0)).toEqual(messages.slice(2));
      expect(await harness.ledger.readTranscript('session-1', messages.at(-1)?.id ?? 0)).toEqual([]);
      expect(await harness.ledger.readTranscript('no such transcript', 0)).toEqual([]);
    });

    test('loses the messages that a settle hides, and only them', async () => {
      const session = await aSession(harness.ledger);
      await session.turn('a');
      const before = await harness.ledger.readTranscript('session-1', 0);
      await session.submit('too large');
      await session.start();
      await session.settle({
        outcome: 'failed',
        answer: null,
        failure: failureOf('context_exhausted', 'The prompt does not fit'),
      });

      const after = await harness.ledger.readTranscript('session-1', 0);

      expect(after).toEqual(before);
      expect(after.map(metaOf)).toEqual(session.state.messages);
    });
  });

  describe('a compression that rotates', () => {
    const harness = useHarness(makeHarness);

    test('opens a whole child and leaves the parent as it was', async () => {
      const session = await aSession(harness.ledger);
      await threeTurnsAndAPrompt(session);
      const parent = await harness.ledger.readTranscript('session-1', 0);
      await session.startCompression('compression-1');

      await session.rotate(
        { head: 2, tail: 7, childTranscript: 'child-1' },
        { summary: aSummary({ text: 'Summary' }) },
      );

      const child = await harness.ledger.readTranscript('child-1', 0);
      expect(child.map(({ id, at, ...message }) => message)).toEqual([
        ...parent.slice(0, 2).map(({ id, at, ...message }) => message),
        { ...withoutIdentity(aSummary({ text: 'Summary' })), originId: child[2]?.id },
        ...parent.slice(-7).map(({ id, at, ...message }) => message),
      ]);
      expect(child.map(metaOf)).toEqual(session.state.messages);
      expect(await harness.ledger.readTranscript('session-1', 0)).toEqual(parent);
    });

    test('keeps the instants of what it carries over', async () => {
      const session = await aSession(harness.ledger);
      await threeTurnsAndAPrompt(session);
      const parent = await harness.ledger.readTranscript('session-1', 0);
      await session.startCompression('compression-1');

      await session.rotate({ head: 1, tail: 1, childTranscript: 'child-1' });

      const child = await harness.ledger.readTranscript('child-1', 0);
      expect([child.at(0)?.at, child.at(-1)?.at]).toEqual([parent.at(0)?.at, parent.at(-1)?.at]);
    });

    test('and follows others leaves each message to be read once over the whole lineage, in order (B22, B23)', async () => {
      const session = await aSession(harness.ledger);
      const lineage = ['session-1'];
      for (const n of [1, 2, 3]) {
        await session.turn(`input-${String(n)}`);
        await session.submit(`due-${String(n)}`);
        await session.start();
        await session.startCompression(`compression-${String(n)}`);
        lineage.push(`child-${String(n)}`);
        await session.rotate({ head: 1, tail: 1, childTranscript: `child-${String(n)}` });
        await session.settle();
      }

      const { ledger } = await harness.reopen();
      const rows = (await Promise.all(lineage.map((id) => ledger.readTranscript(id, 0)))).flat();

      const said = rows.filter(({ kind }) => kind !== 'summary');
      const firsts = said.filter(({ id, originId }) => id === originId);
      expect(firsts.map(({ id }) => id)).toEqual(appended(session).map(({ id }) => id));
      expect(new Set(said.map(({ originId }) => originId)).size).toBe(firsts.length);
      expect(rows.filter(({ kind }) => kind === 'summary')).toHaveLength(3);
      expect((await ledger.load('session-1'))?.lineage.tipId).toBe('child-3');
    });

    test('keeps the origin of a copy of a copy', async () => {
      const session = await aSession(harness.ledger);
      await threeTurnsAndAPrompt(session);
      const [first] = session.state.messages;
      await session.startCompression('compression-1');
      await session.rotate({ head: 1, tail: 1, childTranscript: 'child-1' });
      await session.startCompression('compression-2');
      await session.rotate({ head: 1, tail: 1, childTranscript: 'child-2' });

      const [copy] = await harness.ledger.readTranscript('child-2', 0);

      expect(copy?.originId).toBe(first?.id);
      expect(copy?.id).toBeGreaterThan(first?.id ?? Infinity);
      expect(copy?.text).toBe('prompt of a');
    });

    test('moves the tip, which later messages join', async () => {
      const session = await aSession(harness.ledger);
      await threeTurnsAndAPrompt(session);
      const parent = await harness.ledger.readTranscript('session-1', 0);
      await session.startCompression('compression-1');
      await session.rotate({ head: 0, tail: 1, childTranscript: 'child-1' });
      await session.settle({ answer: anAnswer({ text: 'after the rotation' }) });

      const child = await harness.ledger.readTranscript('child-1', 0);

      expect(child.at(-1)?.text).toBe('after the rotation');
      expect(await harness.ledger.readTranscript('session-1', 0)).toEqual(parent);
      expect(await harness.ledger.load('session-1')).toEqual(session.state);
    });

    test('never changes the address: each id of the lineage leads to the session', async () => {
      const session = await aSession(harness.ledger);
      await threeTurnsAndAPrompt(session);
      for (const childTranscript of ['child-1', 'child-2']) {
        await session.startCompression(`compression of ${childTranscript}`);
        await session.rotate({ head: 0, tail: 1, childTranscript });
      }

      const { ledger } = await harness.reopen();

      const ids = ['session-1', 'child-1', 'child-2', 'no such transcript'];
      const owned = { sessionId: 'session-1', principalId: 'local' };
      expect(await Promise.all(ids.map((id) => ledger.sessionOf(id)))).toEqual([owned, owned, owned, null]);
      expect(await ledger.load('child-2')).toBeNull();
    });
  });

  describe('a compression in place', () => {
    const harness = useHarness(makeHarness);

    test('keeps the transcript and its head, and puts the summary and copies of the tail in place of the rest', async () => {
      const session = await aSession(harness.ledger);
      await threeTurnsAndAPrompt(session);
      const before = await harness.ledger.readTranscript('session-1', 0);
      await session.startCompression('compression-1');

      await session.rotate({ head: 2, tail: 7, childTranscript: null }, { summary: aSummary({ text: 'Summary' }) });

      const after = await harness.ledger.readTranscript('session-1', 0);
      expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
      expect(after[2]).toMatchObject({ kind: 'summary', text: 'Summary' });
      expect(after.slice(3).map(({ id, ...copy }) => copy)).toEqual(
        before.slice(-7).map(({ id, ...original }) => original),
      );
      expect(after.map(metaOf)).toEqual(session.state.messages);
      expect(await harness.ledger.load('session-1')).toEqual(session.state);
    });

    test('can follow a rotation, and another compression in place', async () => {
      const session = await aSession(harness.ledger);
      await threeTurnsAndAPrompt(session);
      for (const [index, childTranscript] of ['child-1', null, null].entries()) {
        await session.startCompression(`compression-${index}`);
        await session.rotate({ head: 1, tail: 2, childTranscript });
      }
      await session.settle();

      const tip = await harness.ledger.readTranscript('child-1', 0);

      expect(tip.map(metaOf)).toEqual(session.state.messages);
      expect(tip.map((message) => message.kind)).toEqual(['prompt', 'summary', 'answer', 'prompt', 'answer']);
      expect(await harness.ledger.load('session-1')).toEqual(session.state);
    });
  });

  describe('a compression that fails', () => {
    const harness = useHarness(makeHarness);

    test('leaves the transcript as it was, and the breaker is remembered', async () => {
      const session = await aSession(harness.ledger);
      await threeTurnsAndAPrompt(session);
      const before = await harness.ledger.readTranscript('session-1', 0);
      await session.startCompression('compression-1');
      await session.run({
        kind: 'fail_compression',
        compressionId: 'compression-1',
        failure: failureOf('empty_reply', 'Nothing came'),
        usage: null,
        opensBreaker: true,
      });

      const { ledger } = await harness.reopen();

      expect(await ledger.readTranscript('session-1', 0)).toEqual(before);
      expect((await ledger.load('session-1'))?.lineage.breaker.failures).toBe(1);
      expect(await ledger.load('session-1')).toEqual(session.state);
    });
  });
}

async function aSession(ledger: Ledger): Promise<TestSession> {
  const owner = await TestOwner.takingOver(ledger);
  return owner.create('session-1');
}

/** Ten messages: two of a, then five of b, whose answer and tool results are the fourth to sixth, two of c, one of d. */
async function threeTurnsAndAPrompt(session: TestSession): Promise<void> {
  await session.turn('a');
  await session.submit('b');
  await session.start({ text: 'prompt of b' });
  await session.say(richAnswer);
  await session.say(aToolResult('call-1'), aToolResult('call-2'));
  await session.settle();
  await session.turn('c');
  await session.submit('d');
  await session.start({ text: 'prompt of d' });
}

/** Every message that the session has appended, with its content. */
function appended(session: TestSession): readonly Message[] {
  return session.events.flatMap((event) =>
    event.type === 'message.appended' && 'text' in event.message ? [event.message] : [],
  );
}

function withoutIdentity(draft: MessageDraft): Omit<Message, 'id' | 'originId' | 'at'> {
  const { id, originId, at, ...rest } = messageFrom(draft, 0, '');
  return rest;
}
