import { describe, expect, test } from 'vitest';
import { parseSearch } from '../../../src/core/domain/search/terms.ts';
import type { HistoryEntry, HistoryPage, SearchHit, SessionQueries } from '../../../src/core/ports/session-queries.ts';
import { anAnswer, aPayload, aSummary, aToolCall } from '../../support/builders.ts';
import { TestOwner } from '../../support/test-owner.ts';
import type { TestSession } from '../../support/test-owner.ts';
import { useHarness } from './harness.ts';
import type { MakeLedgerHarness } from './harness.ts';

/** Two turns, a prompt that was withdrawn, and three compressions, the second in place. */
async function aLongSession(owner: TestOwner, sessionId = 'session-1'): Promise<TestSession> {
  const session = await owner.create(sessionId);
  await session.turn('a', { prompt: 'the first prompt', answer: 'a zebra crossing' });
  await session.submit('withdrawn', { payload: aPayload({ text: 'never sent' }) });
  const key = { inputId: 'withdrawn', principalId: 'local' };
  await session.run({ kind: 'cancel', key, revision: null, known: undefined });
  await session.submit('b');
  await session.start({ text: 'the second prompt' });
  for (const [n, childTranscript] of [`${sessionId}-child-1`, null, `${sessionId}-child-2`].entries()) {
    await session.startCompression(`${sessionId}-compression-${String(n + 1)}`);
    const summary = aSummary({ text: `summary ${String(n + 1)} of a zebra` });
    await session.rotate({ head: 1, tail: 1, childTranscript }, { summary });
    await session.say(anAnswer({ text: `step ${String(n + 1)}`, toolCalls: [aToolCall({ id: `call-${String(n)}` })] }));
    await session.say({
      ...anAnswer({ text: `result ${String(n + 1)}` }),
      role: 'tool',
      kind: 'tool',
      toolCallId: `call-${String(n)}`,
    });
  }
  await session.settle({ answer: anAnswer({ text: 'the end' }) });
  return session;
}

/** What was said and what became of it. */
export function describeHistory(makeHarness: MakeLedgerHarness): void {
  describe('the history', () => {
    const harness = useHarness(makeHarness);
    const whole = [
      'the first prompt',
      'a zebra crossing',
      '(never sent)',
      'the second prompt',
      '[summary 1 of a zebra]',
      'step 1',
      'result 1',
      '[summary 2 of a zebra]',
      'step 2',
      'result 2',
      '[summary 3 of a zebra]',
      'step 3',
      'result 3',
      'the end',
    ];

    test.each([1, 2, 3, 5, 100])('shows each message once, in pages of %i, in both directions', async (limit) => {
      await aLongSession(await TestOwner.takingOver(harness.ledger));

      const forwards = await allForwards(harness.queries, limit);
      const backwards = await allBackwards(harness.queries, limit);

      expect(forwards.map(lineOf)).toEqual(whole);
      expect(backwards).toEqual(forwards);
    });

    test('says what left its transcript, and where the borders are', async () => {
      await aLongSession(await TestOwner.takingOver(harness.ledger));

      const entries = await allForwards(harness.queries, 100);
      const borders = entries.flatMap((entry) => (entry.kind === 'compression' ? [entry.compression] : []));

      expect(entries.filter((entry) => entry.kind === 'message' && !entry.active).map(lineOf)).toEqual([
        'step 1',
        'result 1',
      ]);
      expect(borders.map(({ parentTranscript, childTranscript }) => [parentTranscript, childTranscript])).toEqual([
        ['session-1', 'session-1-child-1'],
        ['session-1-child-1', 'session-1-child-1'],
        ['session-1-child-1', 'session-1-child-2'],
      ]);
    });

    test('keeps its cursors while the session goes on', async () => {
      const session = await aLongSession(await TestOwner.takingOver(harness.ledger));
      const page = await harness.queries.history({ sessionId: 'session-1', before: null, after: null, limit: 2 });
      await session.turn('later', { prompt: 'later', answer: 'later still' });

      const older = { sessionId: 'session-1', before: page.entries[0]?.seq ?? 0, after: null, limit: 2 };
      const newer = { sessionId: 'session-1', before: null, after: page.entries.at(-1)?.seq ?? 0, limit: 9 };

      expect((await harness.queries.history(older)).entries.map(lineOf)).toEqual(['[summary 3 of a zebra]', 'step 3']);
      expect((await harness.queries.history(newer)).entries.map(lineOf)).toEqual(['later', 'later still']);
    });

    test('is a short page when its content is large', async () => {
      const session = await (await TestOwner.takingOver(harness.ledger)).create('session-1');
      for (const n of [1, 2, 3]) await session.turn(`input-${String(n)}`, { answer: 'x'.repeat(3_000_000) });

      const page = await harness.queries.history({ sessionId: 'session-1', before: null, after: 0, limit: 100 });

      expect([page.entries.length, page.more]).toEqual([3, true]);
    });

    test('is empty for a session that was deleted, and so is its lineage of compressions', async () => {
      const session = await aLongSession(await TestOwner.takingOver(harness.ledger));
      const message = session.state.messages[0]?.id ?? 0;
      await session.run({ kind: 'delete', by: 'local' });
      const { queries } = harness;

      expect(await queries.history({ sessionId: 'session-1', before: null, after: null, limit: 10 })).toEqual({
        entries: [],
        more: false,
      });
      expect((await queries.lineage('session-1')).compressions).toEqual([]);
      expect(await queries.messages({ sessionId: 'session-1', ids: [message] })).toEqual([]);
    });
  });

  describe('the lineage', () => {
    const harness = useHarness(makeHarness);

    test('has each transcript and each compression with its record', async () => {
      await aLongSession(await TestOwner.takingOver(harness.ledger));

      const { transcripts, compressions } = await harness.queries.lineage('session-1');

      expect(transcripts.map(({ id, parentId, endReason }) => [id, parentId, endReason])).toEqual([
        ['session-1', null, 'compression'],
        ['session-1-child-1', 'session-1', 'compression'],
        ['session-1-child-2', 'session-1-child-1', null],
      ]);
      expect(transcripts[2]?.messageCount).toBe(6);
      expect(
        compressions.map(({ status, parentTranscript, childTranscript }) => [
          status,
          parentTranscript,
          childTranscript,
        ]),
      ).toEqual([
        ['completed', 'session-1', 'session-1-child-1'],
        ['completed', 'session-1-child-1', 'session-1-child-1'],
        ['completed', 'session-1-child-1', 'session-1-child-2'],
      ]);
      expect(compressions[0]).toMatchObject({ trigger: 'preflight', model: 'summary-model', failure: null });
    });

    test("of messages by their ids gives the session's own only", async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await aLongSession(owner);
      await (await owner.create('session-2')).turn('a');
      const ids = session.events.flatMap((event) => (event.type === 'message.appended' ? [event.message.id] : []));

      const found = await harness.queries.messages({ sessionId: 'session-1', ids: [...ids, 9_999] });

      expect(found.map(({ id }) => id)).toEqual(ids);
      expect(await harness.queries.messages({ sessionId: 'session-2', ids })).toEqual([]);
    });
  });

  describe('the search', () => {
    const harness = useHarness(makeHarness);
    const find = async (
      query: string,
      of: Partial<Parameters<SessionQueries['search']>[0]> = {},
    ): Promise<readonly string[]> => {
      const terms = parseSearch(query);
      const page = await harness.queries.search({
        principalId: 'local',
        sessionId: null,
        terms,
        before: null,
        limit: 10,
        ...of,
      });
      expect(page.behind).toBe(false);
      return page.hits.map(({ message }) => message.text);
    };
    const say = async (...texts: readonly string[]): Promise<TestSession> => {
      const session = await (await TestOwner.takingOver(harness.ledger)).create('session-1');
      for (const [n, text] of texts.entries())
        await session.turn(`input-${String(n)}`, { prompt: `prompt ${String(n)}`, answer: text });
      return session;
    };

    test('finds what was compressed away, once, and neither copies nor summaries', async () => {
      await aLongSession(await TestOwner.takingOver(harness.ledger));

      expect(await find('zebra')).toEqual(['a zebra crossing']);
      expect(await find('STEP', { sessionId: 'session-1' })).toEqual(['step 3', 'step 2', 'step 1']);
    });

    test("is of one session or of all that are the caller's", async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      await (await owner.create('session-1')).turn('a', { answer: 'one zebra' });
      await (await owner.create('session-2')).turn('a', { answer: 'two zebras, one zebra' });
      await (await owner.create('session-3', { principalId: 'another' })).turn('a', { answer: 'a hidden zebra' });

      expect(await find('zebra')).toEqual(['two zebras, one zebra', 'one zebra']);
      expect(await find('zebra', { sessionId: 'session-1' })).toEqual(['one zebra']);
      expect(await find('zebra', { sessionId: 'session-3' })).toEqual([]);
      expect(await find('zebra', { sessionId: 'nobody' })).toEqual([]);
    });

    test.each([
      ['zebra crossing', ['the zebra is crossing']],
      ['"zebra crossing"', []],
      ['"is crossing', ['the zebra is crossing']],
      ['zeb*', ['the zebra is crossing']],
      ['zeb', []],
      ['CAFÉ', ['Ein Cafe\u0301, bitte']],
      ['cafe', ['Ein Cafe\u0301, bitte']],
      ['天气', ['今天天气很好']],
      ['气很', ['今天天气很好']],
      ['气天', []],
      ['東京', ['東京タワーへ行く']],
      ['🦓', ['a 🦓 and 👩‍👩‍👧']],
      ["don't", ["I don't know"]],
      ['', []],
      ['"', []],
      ['*', []],
      ['AND NOT', []],
      ['zebra OR', []],
      ['zebra AND NOT', []],
      ['NEAR(zebra', []],
      ['content:zebra', []],
      ['scope : s1', []],
      ['zebra"; DROP TABLE words; --', []],
      ['ze\u0000bra', []],
      ['\ud83d', []],
      ['^zebra + (', ['the zebra is crossing']],
      ["%_[]{}()\\'`", []],
    ])('of %j finds %j', async (query, expected) => {
      await say(
        'the zebra is crossing',
        'Ein Cafe\u0301, bitte',
        '今天天气很好',
        '東京タワーへ行く',
        'a 🦓 and 👩‍👩‍👧',
        "I don't know",
      );

      expect(await find(query)).toEqual(expected);
    });

    test('is read in pages, newest first, each hit once, while more is said', async () => {
      const session = await say('zebra 1', 'zebra 2', 'zebra 3', 'zebra 4', 'zebra 5');
      const hits: SearchHit[] = [];
      let before: number | null = null;
      do {
        const terms = parseSearch('zebra');
        const page: Awaited<ReturnType<SessionQueries['search']>> = await harness.queries.search({
          principalId: 'local',
          sessionId: null,
          terms,
          before,
          limit: 2,
        });
        hits.push(...page.hits);
        before = page.next;
        await session.turn(`more-${String(hits.length)}`, { answer: 'another zebra' });
      } while (before !== null);

      expect(hits.map(({ message }) => message.text)).toEqual([5, 4, 3, 2, 1].map((n) => `zebra ${String(n)}`));
    });

    test('finds nothing of a session that was deleted', async () => {
      const session = await say('the zebra is crossing');
      expect(await find('zebra')).toHaveLength(1);
      await session.run({ kind: 'delete', by: 'local' });

      expect(await find('zebra')).toEqual([]);
    });

    test('finds a message whose number was given out before that of another that is stored already', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const slow = await owner.create('session-1');
      const fast = await owner.create('session-2');
      await slow.submit('a');
      await slow.start();
      const late = await slow.request({
        kind: 'append',
        executionGeneration: 1,
        messages: [anAnswer({ text: 'a slow zebra', toolCalls: [aToolCall()] })],
        startedCalls: [],
        askedCalls: [],
        approvalSeconds: 0,
        step: 1,
        contextTokens: null,
      });
      await fast.turn('a', { answer: 'a fast zebra' });
      expect(await find('zebra')).toEqual(['a fast zebra']);

      await harness.ledger.append(late);

      expect(await find('zebra')).toEqual(['a fast zebra', 'a slow zebra']);
    });
  });
}

function lineOf(entry: HistoryEntry): string {
  if (entry.kind === 'message') return entry.message.text;
  return entry.kind === 'prompt' ? `(${entry.content?.text ?? ''})` : `[${entry.summary.text}]`;
}

async function allForwards(queries: SessionQueries, limit: number): Promise<readonly HistoryEntry[]> {
  const all: HistoryEntry[] = [];
  for (let after = 0; ;) {
    const page: HistoryPage = await queries.history({ sessionId: 'session-1', before: null, after, limit });
    all.push(...page.entries);
    if (!page.more) return all;
    after = page.entries.at(-1)?.seq ?? 0;
  }
}

async function allBackwards(queries: SessionQueries, limit: number): Promise<readonly HistoryEntry[]> {
  const all: HistoryEntry[] = [];
  for (let before: number | null = null; ;) {
    const page: HistoryPage = await queries.history({ sessionId: 'session-1', before, after: null, limit });
    all.unshift(...page.entries);
    if (!page.more) return all;
    before = page.entries[0]?.seq ?? 0;
  }
}
