import { describe, expect, test } from 'vitest';
import { parseSearch } from '../../../src/core/domain/search/terms.ts';
import { beginningOf } from '../../../src/core/domain/transcript/cut-text.ts';
import type { Message } from '../../../src/core/domain/transcript/message.ts';
import { maxListedCharacters } from '../../../src/core/ports/session-queries.ts';
import type { AdmissionWithContent, SessionQueries } from '../../../src/core/ports/session-queries.ts';
import { anAnswer, aPayload, aToolCall } from '../../support/builders.ts';
import { TestOwner } from '../../support/test-owner.ts';
import type { TestSession } from '../../support/test-owner.ts';
import { useHarness } from './harness.ts';
import type { LedgerHarness, MakeLedgerHarness } from './harness.ts';

const limit = 100;
/** More than a page holds beyond its first row. */
const huge = 'h'.repeat(4_500_000);
/** Two of them are a page, three are too much for one. */
const large = (n: number): string => `${String(n)}${'x'.repeat(1_500_000)}`;
/** How the texts of `aLargeSession` begin, in order. */
const beginnings = ['p', '1', 'p', '2', 'p', 'h', 'p', '3'];

/** No page grows with what its rows say: it ends early, and the next one begins where it ended. */
export function describePageSizes(makeHarness: MakeLedgerHarness): void {
  describe('a page that is large by its content', () => {
    const harness = useHarness(makeHarness);

    test('of a transcript is read on after its last message', async () => {
      await aLargeSession(harness);

      const pages: (readonly Message[])[] = [];
      for (let afterId = 0; pages.at(-1)?.length !== 0; afterId = pages.at(-1)?.at(-1)?.id ?? afterId) {
        pages.push(await harness.ledger.readTranscript('session-1', afterId));
      }

      expect(pages.map((page) => page.map(initialOf))).toEqual([['p', '1', 'p', '2', 'p'], ['h'], ['p', '3'], []]);
    });

    test('of a snapshot is read on before its first message', async () => {
      await aLargeSession(harness);

      const pages: string[][] = [];
      for (let before: number | null = null, more = true; more;) {
        const page = await harness.queries.snapshot({ sessionId: 'session-1', before, limit });
        pages.push((page?.messages ?? []).map(initialOf));
        before = page?.messages[0]?.id ?? 0;
        more = page?.moreMessages ?? false;
      }

      expect(pages).toEqual([['p', '3'], ['h'], ['p', '1', 'p', '2', 'p']]);
    });

    test('of events is read on after its last event, and each comes once', async () => {
      const session = await aLargeSession(harness);

      const pages: { seqs: number[]; texts: string[] }[] = [];
      for (let afterSeq = 0, lastSeq = 1; afterSeq < lastSeq;) {
        const page = await harness.queries.events({ sessionId: 'session-1', afterSeq, limit });
        const messages = page.events.flatMap((event) => (event.type === 'message.appended' ? event.message : []));
        pages.push({ seqs: page.events.map(({ seq }) => seq), texts: (messages as Message[]).map(initialOf) }); // with content
        afterSeq = page.events.at(-1)?.seq ?? Infinity;
        lastSeq = page.lastSeq;
      }

      expect(pages.flatMap(({ texts }) => texts)).toEqual(beginnings);
      expect(pages.flatMap(({ seqs }) => seqs)).toEqual(session.events.map(({ seq }) => seq));
      expect(pages).toHaveLength(3);
    });

    test.each(['forwards', 'backwards'] as const)('of the history is read on %s', async (direction) => {
      await aLargeSession(harness);
      const isForward = direction === 'forwards';

      const pages: string[][] = [];
      for (let cursor: number | null = isForward ? 0 : null, more = true; more;) {
        const range = isForward ? { before: null, after: cursor } : { before: cursor, after: null };
        const page = await harness.queries.history({ sessionId: 'session-1', ...range, limit });
        const texts = page.entries.flatMap((entry) => (entry.kind === 'message' ? initialOf(entry.message) : []));
        pages.push(texts);
        cursor = page.entries.at(isForward ? -1 : 0)?.seq ?? cursor;
        more = page.more;
      }

      expect((isForward ? pages : pages.toReversed()).flat()).toEqual(beginnings);
      expect(pages).toHaveLength(3);
    });

    test('of a history counts what its prompts bring, also what it does not show', async () => {
      const session = await (await TestOwner.takingOver(harness.ledger)).create('session-1');
      const image = { type: 'image', mediaType: 'image/png', data: 'x'.repeat(1_500_000) } as const;
      for (const n of [1, 2, 3]) {
        await session.submit(`input-${String(n)}`, {
          payload: aPayload({ text: `with ${String(n)}`, parts: [image] }),
        });
        const key = { admissionId: session.state.open[0]?.admissionId ?? '' };
        await session.run({ kind: 'cancel', key, revision: null, known: undefined });
      }

      const page = await harness.queries.history({ sessionId: 'session-1', before: null, after: 0, limit });

      expect(page.entries.map((entry) => entry.kind === 'prompt' && entry.content?.text)).toEqual(['with 1', 'with 2']);
      expect(page.more).toBe(true);
    });

    test('of messages by their ids is the first of them', async () => {
      const { state } = await aLargeSession(harness);

      const page = await harness.queries.messages({ sessionId: 'session-1', ids: state.messages.map(({ id }) => id) });

      expect(page.map(initialOf)).toEqual(['p', '1', 'p', '2', 'p']);
    });

    test('of what a search finds is read on before its last hit', async () => {
      const session = await (await TestOwner.takingOver(harness.ledger)).create('session-1');
      for (const n of [1, 2, 3])
        await session.turn(`input-${String(n)}`, { answer: `${String(n)} zebra ${'y'.repeat(1_500_000)}` });
      const find = (before: number | null) =>
        harness.queries.search({ principalId: 'local', sessionId: null, terms: parseSearch('zebra'), before, limit });

      const first = await find(null);
      const second = await find(first.next);

      expect([first, second].map(({ hits }) => hits.map(({ message }) => initialOf(message)))).toEqual([
        ['3', '2'],
        ['1'],
      ]);
      expect(second.next).toBeNull();
    });

    test('of requests for approval has all of them, and leaves out what their calls would get', async () => {
      const session = await (await TestOwner.takingOver(harness.ledger)).create('session-1');
      await session.submit('a');
      await session.start();
      const toolCalls = [1, 2, 3, 4].map((n) =>
        aToolCall({ id: `call-${String(n)}`, arguments: JSON.stringify(large(n)) }),
      );
      await session.askFor(anAnswer({ toolCalls }));

      const open = await harness.queries.openApprovals({ of: { sessionId: 'session-1' }, limit });

      expect(open.map((approval) => [approval.callId, approval.arguments?.length, approval.argumentsLeftOut])).toEqual([
        ['call-1', 1_500_003, false],
        ['call-2', 1_500_003, false],
        ['call-3', undefined, true],
        ['call-4', undefined, true],
      ]);
    });
  });

  describe('a list of prompts', () => {
    const harness = useHarness(makeHarness);

    test.each([
      ['plain', 'x'],
      ['of characters that are escaped', '"\\\n\u0000\u0001'],
      ['of characters outside the basic plane', '😀'],
      ['of halves of them', '\ud800'],
    ])('has the beginnings of long texts: %s', async (_what, unit) => {
      const session = await (await TestOwner.takingOver(harness.ledger)).create('session-1');
      const texts = [1, maxListedCharacters - 1, maxListedCharacters, maxListedCharacters + 1, 900_000].map((length) =>
        `a${unit.repeat(length)}`.slice(0, length),
      );
      for (const [n, text] of texts.entries())
        await session.submit(`input-${String(n)}`, { payload: aPayload({ text }) });

      const { admissions } = await harness.queries.listAdmissions({
        sessionId: 'session-1',
        include: 'open',
        limit,
        after: null,
      });
      const snapshot = await harness.queries.snapshot({ sessionId: 'session-1', before: null, limit });

      const isShown = ({ content }: Pick<AdmissionWithContent, 'content'>, n: number) =>
        content?.text === beginningOf(texts[n] ?? '', maxListedCharacters);
      expect(admissions.map(isShown)).toEqual(texts.map(() => true));
      expect(snapshot?.pending.map(isShown)).toEqual(texts.map(() => true));
    });

    test('has a prompt with parts as it is, and ends where its data make it large', async () => {
      const session = await (await TestOwner.takingOver(harness.ledger)).create('session-1');
      const image = { type: 'image', mediaType: 'image/png', data: 'x'.repeat(1_500_000) } as const;
      for (const n of [1, 2, 3])
        await session.submit(`input-${n}`, { payload: aPayload({ text: `with ${n}`, parts: [image] }) });
      const list = (after: number | null) =>
        harness.queries.listAdmissions({ sessionId: 'session-1', include: 'open', limit, after });

      const first = await list(null);
      const second = await list(first.next);
      const snapshot = await harness.queries.snapshot({ sessionId: 'session-1', before: null, limit });

      const shown = (rows: readonly Pick<AdmissionWithContent, 'content'>[]) =>
        rows.map(({ content }) => [content?.text, content?.parts?.length, content?.parts?.[0]?.type]);
      expect([first, second].map(({ admissions }) => shown(admissions))).toEqual([
        [
          ['with 1', 1, 'image'],
          ['with 2', 1, 'image'],
        ],
        [['with 3', 1, 'image']],
      ]);
      expect(second.next).toBeNull();
      expect(shown(snapshot?.pending ?? [])).toEqual(shown(first.admissions));
    });

    test('ends before it is large, and the next one begins there', async () => {
      const session = await (await TestOwner.takingOver(harness.ledger)).create('session-1');
      const numbers = Array.from({ length: 70 }, (_, n) => n);
      for (const n of numbers)
        await session.submit(`input-${String(n)}`, { payload: aPayload({ text: large(n).slice(0, 100_000) }) });

      const pages = await allPrompts(harness.queries);
      const snapshot = await harness.queries.snapshot({ sessionId: 'session-1', before: null, limit });

      expect(pages.map(({ length }) => length)).toEqual([60, 10]);
      expect(pages.flat()).toEqual(numbers.map((n) => `input-${String(n)}`));
      expect(snapshot?.pending).toHaveLength(60);
    });
  });

  describe('a list of sessions', () => {
    const harness = useHarness(makeHarness);

    test('has no system prompts: each is read for itself', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      await owner.create('session-1', { systemPrompt: huge });
      await owner.create('session-2');

      const { sessions } = await harness.queries.listSessions({
        principalId: 'local',
        archived: null,
        limit,
        before: null,
      });

      expect(sessions.map((session) => 'systemPrompt' in session.profile)).toEqual([false, false]);
      expect(await harness.queries.systemPrompt('session-1')).toBe(huge);
      expect(await harness.queries.systemPrompt('session-2')).toBeNull();
      expect(await harness.queries.systemPrompt('nobody')).toBeNull();
    });
  });
}

/** Four turns; among their answers is one that is larger than a page. */
async function aLargeSession({ ledger }: LedgerHarness): Promise<TestSession> {
  const session = await (await TestOwner.takingOver(ledger)).create('session-1');
  for (const [n, answer] of [large(1), large(2), huge, large(3)].entries())
    await session.turn(`input-${String(n)}`, { answer });
  return session;
}

function initialOf({ text }: Message): string {
  return text.slice(0, 1);
}

async function allPrompts(queries: SessionQueries): Promise<readonly (readonly string[])[]> {
  const pages: string[][] = [];
  for (let after: number | null = null, more = true; more;) {
    const page = await queries.listAdmissions({ sessionId: 'session-1', include: 'all', limit, after });
    pages.push(page.admissions.map(({ admission }) => admission.inputId));
    after = page.next;
    more = after !== null;
  }
  return pages;
}
