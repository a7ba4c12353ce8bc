import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { migrate, schemaVersion } from '../../../src/adapters/outbound/sqlite/migrations.ts';

/** What DESIGN.md promises to operators and other tools. */
const publicColumns: Readonly<Record<string, string>> = {
  runtime_epoch: 'singleton, epoch, instance_id, store_id, started_at',
  sessions: `id, root_session_id, parent_session_id, source, title, model, provider, cwd, started_at, ended_at,
    end_reason, message_count, request_id, request_digest`,
  messages: 'id, session_id, role, content, active, origin_id, parts, tool_calls, usage, tokens, finish_reason, kind',
  session_admissions: `seq, admission_id, request_id, target_session_id, principal_id, position, revision, status,
    outcome, owner_epoch, execution_generation, boundary, delivery, request_digest, payload, payload_digest,
    requeue_count`,
  session_events: 'session_id, seq, type, at, epoch, admission_id, execution_generation, payload',
  compressions: `id, session_id, parent_transcript, child_transcript, trigger, status, tokens_before, tokens_after,
    model, usage`,
  tool_calls: 'call_id, session_id, admission_id, message_id, name, arguments, status, started_at, finished_at',
};

describe('the migrations', () => {
  test.each(Object.entries(publicColumns))('give %s its public columns', (table, columns) => {
    const db = new Database(':memory:');
    migrate(db);

    const existing = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table);

    expect(existing).toEqual(expect.arrayContaining(columns.split(',').map((name) => name.trim())));
    db.close();
  });

  test('admit an input id once for each principal and session', () => {
    const db = new Database(':memory:');
    migrate(db);

    const unique = db
      .prepare<[], string>(
        `SELECT name FROM pragma_index_list('session_admissions') WHERE "unique" = 1 AND name = 'admissions_by_request'`,
      )
      .pluck()
      .get();
    const columns = db
      .prepare<[string], string>('SELECT name FROM pragma_index_info(?)')
      .pluck()
      .all(unique ?? '');

    expect([...columns].sort()).toEqual(['principal_id', 'request_id', 'target_session_id']);
    db.close();
  });

  test('number the schema, and do nothing the second time', () => {
    const db = new Database(':memory:');
    migrate(db);
    const before = schemaOf(db);

    migrate(db);

    expect(db.pragma('user_version', { simple: true })).toBe(schemaVersion);
    expect(schemaOf(db)).toEqual(before);
    db.close();
  });

  test('go on from the version of the file', () => {
    const db = new Database(':memory:');
    const steps = ['CREATE TABLE one (id INTEGER)', 'CREATE TABLE two (id INTEGER)', 'CREATE TABLE three (id INTEGER)'];
    migrate(db, steps.slice(0, 1));

    migrate(db, steps);

    expect(db.pragma('user_version', { simple: true })).toBe(3);
    expect(schemaOf(db)).toEqual(['one', 'three', 'two']);
    db.close();
  });

  test('leave the version before a step that fails, and nothing of the step', () => {
    const db = new Database(':memory:');
    const steps = ['CREATE TABLE one (id INTEGER)', 'CREATE TABLE two (id INTEGER); CREATE TABLE one (id INTEGER)'];

    expect(() => migrate(db, steps)).toThrow(/already exists/);

    expect(db.pragma('user_version', { simple: true })).toBe(1);
    expect(schemaOf(db)).toEqual(['one']);
    db.close();
  });
});

function schemaOf(db: Database.Database): readonly string[] {
  return db.prepare<[], string>('SELECT name FROM sqlite_schema ORDER BY name').pluck().all();
}
