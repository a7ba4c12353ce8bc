import { describe, expect, onTestFinished, test } from 'vitest';
import { anAdmission, anAnswer, anEvent, aPayload, aSummary, aToolCall, aToolResult } from '../../support/builders.ts';
import { TestOwner } from '../../support/test-owner.ts';
import type { TestSession } from '../../support/test-owner.ts';
import { inProcessStorage } from '../../../src/adapters/outbound/sqlite/in-process-storage.ts';
import { StoreWriter } from '../../../src/adapters/outbound/sqlite/store-writer.ts';
import { temporaryHome } from './temporary-home.ts';

const secret = 'The quick brown fox';

describe('the tables as an operator reads them', () => {
  test('have each content once: the log refers to it', async () => {
    const { writer, session } = await aSession();
    await aTurnWithToolsAndACompression(session);

    const payloads = writer.db.prepare<[], string>('SELECT payload FROM session_events').pluck().all();

    expect(payloads).toHaveLength(8);
    expect(payloads.filter((payload) => payload.includes(secret))).toEqual([]);
  });

  test('keep what the log says of a usual prompt short', async () => {
    const { writer, session } = await aSession();
    await session.submit('a', { requestDigest: 'd'.repeat(64), payloadDigest: 'd'.repeat(64) });

    const payload = writer.db.prepare(`SELECT payload FROM session_events WHERE type = 'admission.queued'`).pluck();

    expect(payload.get()).toBe('{"admission":{}}');
  });

  test('show one row for each transcript, closed by the compression that ended it', async () => {
    const { writer, session } = await aSession();
    await aTurnWithToolsAndACompression(session);

    const rows = writer.db
      .prepare(
        `SELECT id, root_session_id, parent_session_id, source, model, ended_at IS NOT NULL AS ended, end_reason,
           message_count, request_id, tip_session_id
         FROM sessions ORDER BY number`,
      )
      .all();

    const common = { root_session_id: 'session-1', source: 'cli', model: 'test-model' };
    expect(rows).toEqual([
      {
        ...common,
        id: 'session-1',
        parent_session_id: null,
        ended: 1,
        end_reason: 'compression',
        message_count: 3,
        request_id: 'create-session-1',
        tip_session_id: 'child-1',
      },
      {
        ...common,
        id: 'child-1',
        parent_session_id: 'session-1',
        ended: 0,
        end_reason: null,
        message_count: 4,
        request_id: null,
        tip_session_id: null,
      },
    ]);
  });

  test('count the active messages of each transcript, also after an in-place compression and a hidden prompt', async () => {
    const { writer, session } = await aSession();
    await session.turn('a');
    await session.turn('b');
    await session.submit('c');
    await session.start();
    await session.startCompression('compression-1');
    await session.rotate({ head: 1, tail: 2, childTranscript: null });
    await session.settle();

    const counted = writer.db.prepare(
      `SELECT message_count = (SELECT count(*) FROM messages WHERE session_id = sessions.id AND active = 1) FROM sessions`,
    );

    expect(counted.pluck().all()).toEqual([1]);
    expect(session.state.messages).toHaveLength(5);
  });

  test('keep the record of each compression', async () => {
    const { writer, session } = await aSession();
    await aTurnWithToolsAndACompression(session);

    expect(writer.db.prepare('SELECT * FROM compressions').all()).toMatchObject([
      {
        id: 'compression-1',
        session_id: 'session-1',
        parent_transcript: 'session-1',
        child_transcript: 'child-1',
        trigger: 'preflight',
        status: 'completed',
        tokens_before: 100,
        tokens_after: 40,
        model: 'summary-model',
        failure: null,
        admission_id: 'admission-session-1-a',
      },
    ]);
  });
});

describe('the journal of tool calls as an operator reads it', () => {
  const calls = ['call-1', 'call-2', 'call-3'].map((id) => aToolCall({ id, arguments: `{"path":"${id}"}` }));

  test('has a row for each call whose intent was stored, with its arguments and what became of it', async () => {
    const { writer, session } = await aSession();
    await session.submit('a');
    await session.start();
    await session.ask(anAnswer({ text: '', toolCalls: calls }));
    await session.finish('call-2', { result: 'failed' });

    const rows = writer.db
      .prepare(
        `SELECT t.call_id, t.name, t.status, t.arguments, t.started_at IS NOT NULL AS started,
           t.finished_at IS NOT NULL AS finished, m.role, t.admission_id
         FROM tool_calls t JOIN messages m ON m.id = t.message_id ORDER BY t.id`,
      )
      .all();

    const common = { name: 'read_file', started: 1, role: 'assistant', admission_id: 'admission-session-1-a' };
    expect(rows).toEqual([
      { ...common, call_id: 'call-1', status: 'started', finished: 0, arguments: '{"path":"call-1"}' },
      { ...common, call_id: 'call-2', status: 'failed', finished: 1, arguments: '{"path":"call-2"}' },
      { ...common, call_id: 'call-3', status: 'started', finished: 0, arguments: '{"path":"call-3"}' },
    ]);
  });

  test('says that nobody knows what became of the calls that a turn left open', async () => {
    const { writer, session } = await aSession();
    await session.submit('a');
    await session.start();
    await session.ask(anAnswer({ text: '', toolCalls: calls }));
    await session.finish('call-1');
    await session.settle({ outcome: 'interrupted', answer: null });

    expect(writer.db.prepare('SELECT status FROM tool_calls ORDER BY id').pluck().all()).toEqual([
      'answered',
      'unknown',
      'unknown',
    ]);
  });
});

describe('admissions that share a position', () => {
  test.each([1, 2, 3, 4, 5])('come in one page, with a limit of %i too', async (limit) => {
    const { storage, session } = await aSession();
    const admissions = [10, 20, 20, 20, 30].map((position, index) => anAdmission({ seq: index + 1, position }));
    await session.append(
      admissions.map((admission, index) =>
        anEvent({ type: 'admission.queued', admission, payload: aPayload() }, { seq: index + 2 }),
      ),
    );
    const key = { admissionId: 'admission-3' };
    await session.run({ kind: 'cancel', key, revision: null, known: undefined });

    const found: string[] = [];
    let after: number | null = null;
    do {
      const page = await storage.queries.listAdmissions({ sessionId: 'session-1', include: 'all', limit, after });
      found.push(...page.admissions.map(({ admission }) => admission.admissionId));
      after = page.next;
    } while (after !== null);

    expect(found).toEqual(admissions.map(({ admissionId }) => admissionId));
  });
});

test('the counts stay right while rows are added, also when their numbers come out of order', async () => {
  const { storage, writer } = await aSession();
  const insert = writer.db.prepare(
    `INSERT INTO session_admissions (seq, admission_id, request_id, target_session_id, principal_id, position, revision,
       status, delivery, boundary, step, requeue_count, accepted_at, request_digest, payload_digest)
     VALUES (@seq, @id, @id, 'session-1', 'local', @seq, 1, 'terminal', 'queue', 'none', 0, 0, '', '', '')`,
  );
  const countAfter = async (first: number, last: number): Promise<number> => {
    for (let seq = first; seq <= last; seq += 1) insert.run({ seq, id: `admission-${seq}` });
    return (await storage.queries.counts()).admissions.terminal;
  };

  expect(await countAfter(1, 2_500)).toBe(2_500);
  expect(await countAfter(2_600, 3_000)).toBe(2_901);
  expect(await countAfter(2_501, 2_599)).toBe(3_000); // of another session, under way meanwhile
  expect(await countAfter(3_001, 4_500)).toBe(4_500);
});

async function aSession() {
  const writer = new StoreWriter({ home: temporaryHome(), newStoreId: 'store-1' });
  const storage = inProcessStorage(writer);
  onTestFinished(() => storage.close());
  const session = await (await TestOwner.takingOver(storage.ledger)).create('session-1', { systemPrompt: secret });
  return { writer, storage, session };
}

async function aTurnWithToolsAndACompression(session: TestSession): Promise<void> {
  await session.submit('a', { payload: aPayload({ text: secret }) });
  await session.start({ text: secret });
  await session.say(anAnswer({ text: secret, toolCalls: [aToolCall({ arguments: secret })] }));
  await session.say(aToolResult('call-1', { text: secret }));
  await session.startCompression('compression-1');
  await session.rotate({ head: 1, tail: 2, childTranscript: 'child-1' }, { summary: aSummary({ text: secret }) });
}
