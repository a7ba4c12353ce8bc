import { describe, expect, test } from 'vitest';
import type { SessionEvent } from '../../../src/core/domain/session/events.ts';
import type { Message } from '../../../src/core/domain/transcript/message.ts';
import type { SessionQueries } from '../../../src/core/ports/session-queries.ts';
import { anAnswer, aToolCall } from '../../support/builders.ts';
import { TestOwner } from '../../support/test-owner.ts';
import { allPages } from './all-pages.ts';
import { useHarness } from './harness.ts';
import type { MakeLedgerHarness } from './harness.ts';

/** What `SessionQueries` says about the past of one session: its messages and its events, page by page. */
export function describePast(makeHarness: MakeLedgerHarness): void {
  describe('a snapshot', () => {
    const harness = useHarness(makeHarness);

    test.each([1, 2, 5, 6, 7])(
      'has the messages backwards in pages of %i, each once, with their content',
      async (limit) => {
        const owner = await TestOwner.takingOver(harness.ledger);
        const session = await owner.create('session-1');
        for (const n of [1, 2, 3]) await session.turn(`input-${n}`);

        const messages = await allMessages(harness.queries, limit);

        expect(messages).toEqual(await harness.ledger.readTranscript('session-1', 0));
        expect(messages).toHaveLength(6);
      },
    );

    test('is of the newest event, with the content of what is open and what waits for an approval', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.turn('settled');
      await session.submit('running');
      await session.start();
      await session.submit('waiting');
      await session.askFor(anAnswer({ toolCalls: [aToolCall({ id: 'call', arguments: '{"a":1}' })] }));
      await (await owner.create('session-2')).submit('of another session');

      const page = await harness.queries.snapshot({ sessionId: 'session-1', before: null, limit: 10 });

      expect(page?.lastSeq).toBe(session.state.seq);
      expect(page?.pending).toEqual(
        session.state.open.map(({ admissionId, inputId }) => ({
          admissionId,
          content: { text: `prompt of ${inputId}`, parts: null },
        })),
      );
      expect(page?.approvals).toEqual(
        await harness.queries.openApprovals({ of: { sessionId: 'session-1' }, limit: 10 }),
      );
      expect(page?.approvals.map((approval) => approval.arguments)).toEqual(['{"a":1}']);
    });

    test('follows the tip, and has its active messages only', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      for (const childTranscript of ['child-1', null]) {
        const session = await owner.create(`session of ${childTranscript ?? 'itself'}`);
        await session.turn('a');
        await session.submit('b');
        await session.start();
        await session.startCompression(`compression of ${session.sessionId}`);
        await session.rotate({ head: 0, tail: 1, childTranscript });

        const page = await harness.queries.snapshot({ sessionId: session.sessionId, before: null, limit: 2 });

        expect(page?.messages.map(({ kind }) => kind)).toEqual(['summary', 'prompt']);
        expect(page?.moreMessages).toBe(false);
      }
    });

    test('of a session that nobody knows, of a child and of a deleted session is none', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.submit('a');
      await session.start();
      await session.startCompression('compression-1');
      await session.rotate({ head: 0, tail: 1, childTranscript: 'child-1' });
      await session.settle();
      await session.run({ kind: 'delete', by: 'local' });

      for (const sessionId of ['nobody', 'child-1', 'session-1']) {
        expect(await harness.queries.snapshot({ sessionId, before: null, limit: 10 })).toBeNull();
      }
    });
  });

  describe('the events of a session', () => {
    const harness = useHarness(makeHarness);

    test.each([1, 3, 100])('are read in pages of %i, in order, without a gap', async (limit) => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.turn('a');
      await session.turn('b');

      const events = await allEvents(harness.queries, limit);

      expect(events).toEqual(session.events.map(withoutPayload));
    });

    test('bring each appended message with its content, also when it is no longer active', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.turn('a', { answer: 'the first answer' });
      await session.submit('b');
      await session.start();
      await session.startCompression('compression-1');
      await session.rotate({ head: 0, tail: 1, childTranscript: null });
      await session.settle({ answer: anAnswer({ text: 'the second answer' }) });

      const events = await allEvents(harness.queries, 100);

      const appended = events.flatMap((event) => (event.type === 'message.appended' ? event.message : []));
      const expected = session.events.flatMap((event) => (event.type === 'message.appended' ? event.message : []));
      expect(appended).toEqual(expected);
    });

    test('after the newest one, or of a session that nobody knows, are none', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      await owner.create('session-1');

      expect(await harness.queries.events({ sessionId: 'session-1', afterSeq: 1, limit: 10 })).toEqual({
        events: [],
        lastSeq: 1,
      });
      expect(await harness.queries.events({ sessionId: 'nobody', afterSeq: 0, limit: 10 })).toEqual({
        events: [],
        lastSeq: 0,
      });
    });
  });
}

async function allMessages(queries: SessionQueries, limit: number): Promise<readonly Message[]> {
  const newestFirst = await allPages(limit, async (before: number | null) => {
    const page = await queries.snapshot({ sessionId: 'session-1', before, limit });
    const { messages = [], moreMessages = false } = page ?? {};
    return { rows: messages.toReversed(), next: moreMessages ? (messages[0]?.id ?? null) : null };
  });
  return newestFirst.toReversed();
}

function allEvents(queries: SessionQueries, limit: number): Promise<readonly SessionEvent[]> {
  return allPages(limit, async (afterSeq: number | null) => {
    const page = await queries.events({ sessionId: 'session-1', afterSeq: afterSeq ?? 0, limit });
    const newest = page.events.at(-1)?.seq ?? page.lastSeq;
    return { rows: page.events, next: newest < page.lastSeq ? newest : null };
  });
}

function withoutPayload(event: SessionEvent): SessionEvent {
  if (event.type !== 'admission.queued') return event;
  const { payload, ...stored } = event;
  return stored;
}
