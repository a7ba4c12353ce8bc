import { describe, expect, test } from 'vitest';
import type { Admission } from '../../../src/core/domain/admission/admission.ts';
import type { SessionProfile } from '../../../src/core/domain/session/state.ts';
import type { AdmissionWithContent, SessionQueries, SessionSummary } from '../../../src/core/ports/session-queries.ts';
import { anAdmission, anEvent, aPayload } from '../../support/builders.ts';
import { TestOwner } from '../../support/test-owner.ts';
import { allPages } from './all-pages.ts';
import { useHarness } from './harness.ts';
import type { MakeLedgerHarness } from './harness.ts';

const numbers = [1, 2, 3, 4, 5];

/** What `SessionQueries` says about the store as a whole: which sessions there are, what waits, and how much. */
export function describeLists(makeHarness: MakeLedgerHarness): void {
  describe('the list of sessions', () => {
    const harness = useHarness(makeHarness);

    test('has a row for each, with its numbers as they are now', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1', { title: 'A title', toolsets: ['files', 'web'], cwd: '/home' });
      await session.turn('a');
      await session.submit('b');
      await session.start();
      await session.startCompression('compression-1');
      await session.rotate({ head: 1, tail: 1, childTranscript: 'child-1' });
      await session.submit('c');
      await session.run({ kind: 'hold', hold: { reason: 'operator', until: null, by: 'local' } });

      const row = await harness.queries.findSession('session-1');

      expect(row).toEqual({
        sessionId: 'session-1',
        tipId: 'child-1',
        profile: withoutSystemPrompt(session.state.profile),
        revision: session.state.revision,
        archived: false,
        pinned: false,
        executionGeneration: 2,
        transcripts: 2,
        compressions: 1,
        messageCount: 3,
        queued: 1,
        started: 1,
        unknown: 0,
        held: true,
        lastSeq: session.state.seq,
        updatedAt: session.events.at(-1)?.at,
      });
      expect(
        (await harness.queries.listSessions({ principalId: 'local', archived: null, limit: 1, before: null })).sessions,
      ).toEqual([row]);
    });

    test('has no row for a transcript that is no root, nor for an id that nobody knows', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.submit('a');
      await session.start();
      await session.startCompression('compression-1');
      await session.rotate({ head: 0, tail: 1, childTranscript: 'child-1' });

      expect(await harness.queries.findSession('child-1')).toBeNull();
      expect(await harness.queries.findSession('nobody')).toBeNull();
      expect((await allSessions(harness.queries, 10)).map(({ sessionId }) => sessionId)).toEqual(['session-1']);
    });

    test.each([1, 2, 3, 5, 6])('is read in pages of %i, the newest session first, each once', async (limit) => {
      const owner = await TestOwner.takingOver(harness.ledger);
      for (const n of numbers) await owner.create(`session-${n}`, { startedAt: `2030-01-0${n}T00:00:00.000Z` });
      await owner.create('session-of-another', { principalId: 'somebody-else' });

      const sessions = await allSessions(harness.queries, limit);

      expect(sessions.map(({ sessionId }) => sessionId)).toEqual(numbers.toReversed().map((n) => `session-${n}`));
    });

    test.each(['archived', 'deleted'])('goes on behind a session that was %s since', async (change) => {
      const owner = await TestOwner.takingOver(harness.ledger);
      await owner.create('session-1');
      const second = await owner.create('session-2');
      await owner.create('session-3');
      const page = { principalId: 'local', archived: false, limit: 2 } as const;
      const first = await harness.queries.listSessions({ ...page, before: null });

      if (change === 'deleted') await second.run({ kind: 'delete', by: 'local' });
      else await second.run({ kind: 'update', changes: { archived: true }, revision: null, by: 'local' });
      const rest = await harness.queries.listSessions({ ...page, before: first.next });

      expect(first.next).toBe('session-2');
      expect(rest.sessions.map(({ sessionId }) => sessionId)).toEqual(['session-1']);
    });

    test('of a principal without sessions is empty', async () => {
      expect(
        await harness.queries.listSessions({ principalId: 'nobody', archived: null, limit: 10, before: null }),
      ).toEqual({
        sessions: [],
        next: null,
      });
    });
  });

  describe('the list of admissions', () => {
    const harness = useHarness(makeHarness);

    test.each([1, 2, 3, 5, 6])('is read in pages of %i, in queue order, with their texts', async (limit) => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      for (const n of numbers) await session.submit(`input-${n}`, { payload: aPayload({ text: `text ${n}` }) });
      await (await owner.create('session-2')).submit('of another session');

      const admissions = await allAdmissions(harness.queries, 'open', limit);

      expect(admissions.map(({ admission }) => admission)).toEqual(session.state.open);
      expect(admissions.map(({ content }) => content?.text)).toEqual(numbers.map((n) => `text ${n}`));
    });

    test('has the settled ones only where all are asked for', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.turn('settled');
      await session.submit('running');
      await session.start();
      await session.submit('waiting');

      const open = await allAdmissions(harness.queries, 'open', 1);
      const all = await allAdmissions(harness.queries, 'all', 1);

      expect(open.map(inputIdOf)).toEqual(['running', 'waiting']);
      expect(all.map(inputIdOf)).toEqual(['settled', 'running', 'waiting']);
    });

    test('never parts admissions that share a position, so that a page that goes on after it misses none', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      const [first, retry] = [
        anAdmission({ seq: 1 }),
        anAdmission({ seq: 2, position: anAdmission({ seq: 1 }).position }),
      ];
      const events = [first, retry, anAdmission({ seq: 3 })].map((admission, index) =>
        anEvent({ type: 'admission.queued', admission, payload: aPayload() }, { seq: index + 2 }),
      );
      await session.append(events);

      const page = { sessionId: 'session-1', include: 'open', limit: 1 } as const;
      const shared = await harness.queries.listAdmissions({ ...page, after: null });
      const rest = await harness.queries.listAdmissions({ ...page, after: shared.next });

      expect([shared.admissions.map(inputIdOf), shared.next]).toEqual([['input-1', 'input-2'], first.position]);
      expect([rest.admissions.map(inputIdOf), rest.next]).toEqual([['input-3'], null]);
    });

    test('of a session that nobody knows is empty', async () => {
      const page = { sessionId: 'nobody', include: 'all', limit: 10, after: null } as const;
      expect(await harness.queries.listAdmissions(page)).toEqual({ admissions: [], next: null });
    });
  });

  describe('the counts', () => {
    const harness = useHarness(makeHarness);

    test('are zero in an empty store', async () => {
      expect(await harness.queries.counts()).toEqual({
        sessions: 0,
        admissions: { queued: 0, started: 0, unknown: 0, terminal: 0 },
      });
    });

    test('count each session once, however many transcripts it has, and each admission by its status', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const lost = await owner.create('session-1');
      await lost.submit('a');
      await lost.start();
      const successor = await TestOwner.takingOver(harness.ledger);
      await (await successor.find('session-1')).recover();
      const session = await successor.create('session-2');
      await session.turn('a');
      await session.turn('b');
      await session.submit('c');
      await session.start();
      await session.startCompression('compression-1');
      await session.rotate({ head: 0, tail: 1, childTranscript: 'child-1' });
      for (const n of [1, 2, 3]) await session.submit(`waiting-${n}`);

      expect(await harness.queries.counts()).toEqual({
        sessions: 2,
        admissions: { queued: 3, started: 1, unknown: 1, terminal: 2 },
      });
    });
  });

  describe('the held queues', () => {
    const harness = useHarness(makeHarness);

    test('are those in which prompts wait under a hold, the oldest hold first, as many as are asked for', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      for (const sessionId of ['b', 'nobody-waits', 'a', 'not-held']) {
        const session = await owner.create(sessionId);
        if (sessionId !== 'nobody-waits') for (const n of [1, 2]) await session.submit(`${sessionId} ${n}`);
        if (sessionId === 'not-held') continue;
        await session.run({ kind: 'hold', hold: { reason: `reason of ${sessionId}`, until: null, by: 'local' } });
      }

      const all = await harness.queries.heldQueues(10);

      expect(all).toEqual([
        { sessionId: 'b', hold: (await harness.ledger.load('b'))?.hold, queued: 2 },
        { sessionId: 'a', hold: (await harness.ledger.load('a'))?.hold, queued: 2 },
      ]);
      expect(all[1]?.hold.reason).toBe('reason of a');
      expect(await harness.queries.heldQueues(1)).toEqual(all.slice(0, 1));
      await (await owner.find('b')).run({ kind: 'release', by: 'local', until: null });
      expect(await harness.queries.heldQueues(10)).toEqual(all.slice(1));
    });
  });

  describe('the unknown admissions', () => {
    const harness = useHarness(makeHarness);

    test('come oldest first, as many as are asked for', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      for (const sessionId of ['b', 'c', 'a']) {
        const session = await owner.create(sessionId);
        await session.submit(`of ${sessionId}`, { payload: aPayload({ text: `text of ${sessionId}` }) });
        await session.start();
      }
      const successor = await TestOwner.takingOver(harness.ledger);
      for (const sessionId of ['b', 'c', 'a']) await (await successor.find(sessionId)).recover();
      await (await successor.create('d')).submit('waiting');

      const all = await harness.queries.unknownAdmissions(10);

      expect(all.map(({ inputId }) => inputId)).toEqual(['of b', 'of c', 'of a']);
      expect(all[0]).toEqual((await harness.ledger.load('b'))?.open[0]);
      expect(await harness.queries.unknownAdmissions(2)).toEqual(all.slice(0, 2));
    });

    test('are gone once they are resolved', async () => {
      const owner = await TestOwner.takingOver(harness.ledger);
      const session = await owner.create('session-1');
      await session.submit('a');
      await session.start();
      const successor = await TestOwner.takingOver(harness.ledger);

      await (await successor.find('session-1')).recover('discard');

      expect(await harness.queries.unknownAdmissions(10)).toEqual([]);
    });
  });
}

function allSessions(queries: SessionQueries, limit: number): Promise<readonly SessionSummary[]> {
  return allPages(limit, async (before: string | null) => {
    const page = await queries.listSessions({ principalId: 'local', archived: null, limit, before });
    return { rows: page.sessions, next: page.next };
  });
}

function allAdmissions(
  queries: SessionQueries,
  include: 'open' | 'all',
  limit: number,
): Promise<readonly AdmissionWithContent[]> {
  return allPages(limit, async (after: number | null) => {
    const page = await queries.listAdmissions({ sessionId: 'session-1', include, limit, after });
    return { rows: page.admissions, next: page.next };
  });
}

function withoutSystemPrompt({ systemPrompt, ...shown }: SessionProfile): SessionSummary['profile'] {
  return shown;
}

function inputIdOf({ admission }: { readonly admission: Admission }): string {
  return admission.inputId;
}
